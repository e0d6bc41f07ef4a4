"""Ways in which a page may try to reach a place: a document each, with the place written as `PLACE`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vector:
    """One way."""

    name: str
    markup: str
    """Inside `body`; `PLACE` is `host:port` of what it tries to reach."""
    idle: bool = False
    """Chromium need not do it even where nothing stops it: no part of the positive control."""


def _script(text: str) -> str:
    return f"<script>{text}</script>"


def _worker(kind: str, text: str) -> str:
    code = text.replace('"', "'")
    return _script(f'new {kind}(URL.createObjectURL(new Blob(["{code}"], {{type: "text/javascript"}})))')  # fmt: skip


_STUN = "const p = new RTCPeerConnection({iceServers: [ICE]}); p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o));"

VECTORS = (
    Vector("image", "<img src='http://PLACE/a.png'>"),
    Vector("stylesheet", "<link rel='stylesheet' href='http://PLACE/a.css'>"),
    Vector("css image", "<div style='background:url(http://PLACE/b.png);width:9px;height:9px'></div>"),
    Vector("font", "<style>@font-face{font-family:x;src:url(http://PLACE/x.woff)}p{font-family:x}</style><p>text</p>"),
    Vector("script", "<script src='http://PLACE/a.js'></script>"),
    Vector("module", "<script type='module'>import 'http://PLACE/m.js'</script>"),
    Vector("fetch", _script("fetch('http://PLACE/f', {mode: 'no-cors'})")),
    Vector("xhr", _script("const x = new XMLHttpRequest(); x.open('GET', 'http://PLACE/x'); x.send()")),
    Vector("beacon", _script("navigator.sendBeacon('http://PLACE/b', 'x')")),
    Vector("iframe", "<iframe src='http://PLACE/i'></iframe>"),
    Vector("object", "<object data='http://PLACE/o' type='text/html'></object>"),
    Vector("embed", "<embed src='http://PLACE/e' type='text/html'>"),
    Vector("video", "<video src='http://PLACE/v.mp4' autoplay></video>"),
    Vector("track", "<audio src='http://PLACE/t.mp3' preload='auto'></audio>"),
    Vector("form", "<form action='http://PLACE/p' method='post'></form>" + _script("document.forms[0].submit()")),
    Vector("navigation", _script("location.href = 'http://PLACE/n'")),
    Vector("meta refresh", "<meta http-equiv='refresh' content='0;url=http://PLACE/r'>"),
    Vector("window", "<button onclick=\"window.open('http://PLACE/w')\">x</button>" + _script("document.querySelector('button').click()")),
    Vector("redirect of navigation", _script("location.href = '/redirect?to=http://PLACE/rn'")),
    Vector("redirect of image", "<img src='/redirect?to=http://PLACE/ri'>"),
    Vector("redirect of fetch", _script("fetch('/redirect?to=http://PLACE/rf', {mode: 'no-cors'})")),
    Vector("prefetch", "<link rel='prefetch' href='http://PLACE/pf'>"),
    Vector("preload", "<link rel='preload' as='image' href='http://PLACE/pl.png'>"),
    Vector("modulepreload", "<link rel='modulepreload' href='http://PLACE/mp.js'>"),
    Vector("preconnect", "<link rel='preconnect' href='http://PLACE'>", idle=True),
    Vector("dns-prefetch", "<link rel='dns-prefetch' href='//PLACE'>", idle=True),
    Vector("speculation rules", "<script type='speculationrules'>{\"prefetch\":[{\"source\":\"list\",\"urls\":[\"http://PLACE/sr\"]}]}</script>", idle=True),
    Vector("websocket", _script("new WebSocket('ws://PLACE/ws')")),
    Vector("event source", _script("new EventSource('http://PLACE/es')")),
    Vector("worker fetch", _worker("Worker", "fetch('http://PLACE/wf', {mode: 'no-cors'})")),
    Vector("worker websocket", _worker("Worker", "new WebSocket('ws://PLACE/ww')")),
    Vector("shared worker fetch", _worker("SharedWorker", "fetch('http://PLACE/sw', {mode: 'no-cors'})")),
    Vector("service worker", _script("navigator.serviceWorker.register('/worker.js?to=http://PLACE/svc')")),
    Vector("link ping", "<a href='#' ping='http://PLACE/ping'>x</a>" + _script("document.querySelector('a').click()")),
    Vector("favicon", "<link rel='icon' href='http://PLACE/fav.ico'>", idle=True),
    Vector("svg", "<svg><image href='http://PLACE/s.png' width='9' height='9'/></svg>"),
    Vector("stun", _script(_STUN.replace("ICE", "{urls: 'stun:PLACE'}"))),
    Vector("turn over tcp", _script(_STUN.replace("ICE", "{urls: 'turn:PLACE?transport=tcp', username: 'a', credential: 'b'}"))),
    Vector("web transport", _script("new WebTransport('https://PLACE/wt')"), idle=True),
)  # fmt: skip
WORKER = "fetch(new URL(location.href).searchParams.get('to'), {mode: 'no-cors'})"
