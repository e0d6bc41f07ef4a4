"""World models from files: any form, from scratch or from a pretrained model, whole or adapters, in two stages."""
