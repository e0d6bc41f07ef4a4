"""Models as services on this machine: a chat model behind OpenAI's interface, and the dream as an Environment over HTTP."""
