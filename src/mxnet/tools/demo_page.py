"""The demonstration's page: draw a digit in the browser, see the network's answer. It listens on this machine only."""

import json
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from .. import nd
from .._core.extras import opencv

SIDE = 140  # pixels of a drawing, in both directions, as the page sends it: one byte each, 255 is ink
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>ReMX: draw a digit</title><style>
body { font: 16px system-ui, sans-serif; max-width: 620px; margin: 2em auto; color: #222; }
main { display: flex; gap: 2em; } canvas { border: 1px solid #999; touch-action: none; cursor: crosshair; }
#answer { font-size: 5em; line-height: 1; height: 1em; } td { padding: 1px 6px; }
.bar { background: #3b76b4; height: .8em; }
</style></head><body><h1>Draw a digit</h1><main>
<div><canvas id="paper" width="280" height="280"></canvas><p><button id="clear">clear</button></p></div>
<div><div id="answer"></div><table id="scores"></table></div></main>
<p>The network that <code>remx demo</code> has just trained answers. Nothing leaves this machine.</p>
<script>
const SIDE = 140, paper = document.getElementById("paper"), pen = paper.getContext("2d", {willReadFrequently: true});
const small = document.createElement("canvas"), answer = document.getElementById("answer");
small.width = small.height = SIDE;
let drawing = false, asked = 0;
function wipe() {
  asked += 1;
  pen.fillStyle = "white"; pen.fillRect(0, 0, 280, 280);
  answer.textContent = ""; document.getElementById("scores").replaceChildren();
}
function place(event) {
  const box = paper.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
function show(result) {
  answer.textContent = result.digit;
  document.getElementById("scores").replaceChildren(...result.scores.map((score, digit) => {
    const row = document.createElement("tr");
    row.innerHTML = `<td>${digit}</td><td><div class="bar" style="width:${Math.round(200 * score)}px"></div></td>` +
      `<td>${(100 * score).toFixed(1)} %</td>`;
    return row;
  }));
}
async function ask() {
  const turn = ++asked, view = small.getContext("2d", {willReadFrequently: true});
  view.drawImage(paper, 0, 0, SIDE, SIDE);
  const colours = view.getImageData(0, 0, SIDE, SIDE).data;
  const ink = Uint8Array.from({length: SIDE * SIDE}, (_, i) => 255 - colours[4 * i]);
  const reply = await fetch("answer", {method: "POST", body: ink});
  const result = await reply.json();
  if (turn !== asked) return;
  if (reply.ok) show(result); else answer.textContent = "?";
}
paper.addEventListener("pointerdown", event => {
  drawing = true; paper.setPointerCapture(event.pointerId);
  pen.lineWidth = 22; pen.lineCap = pen.lineJoin = "round"; pen.strokeStyle = "black";
  pen.beginPath(); pen.moveTo(...place(event)); pen.lineTo(...place(event)); pen.stroke();
});
paper.addEventListener("pointermove", event => { if (drawing) { pen.lineTo(...place(event)); pen.stroke(); } });
paper.addEventListener("pointerup", () => { if (drawing) { drawing = false; ask(); } });
document.getElementById("clear").addEventListener("click", wipe);
wipe();
</script></body></html>
"""


def centred(drawing):
    """A drawing as the digits are: 20 pixels in its longer direction, its centre of mass in the middle of 28 x 28."""
    cv2 = opencv()
    ys, xs = np.nonzero(drawing > 32)
    if not len(ys):
        raise ValueError("the drawing is empty")
    cut = drawing[ys.min() : ys.max() + 1, xs.min() : xs.max() + 1]
    scale = 20 / max(cut.shape)
    height, width = (max(1, round(side * scale)) for side in cut.shape)
    ink = cv2.resize(cut, (width, height), interpolation=cv2.INTER_AREA).astype("float32")
    ys, xs = np.indices(ink.shape)
    top, left = (int(np.clip(14 - round((axis * ink).sum() / ink.sum()), 0, 28 - size))
                 for axis, size in ((ys, height), (xs, width)))  # fmt: skip
    image = np.zeros((28, 28), "float32")
    image[top : top + height, left : left + width] = ink / 255
    return image


def answer(net, body):
    """What the network says of a drawing: the digit and the probability of each."""
    drawing = np.frombuffer(body, "uint8").reshape(SIDE, SIDE)
    scores = nd.softmax(net(nd.array(centred(drawing)[None, None])))[0].asnumpy()
    return {"digit": int(scores.argmax()), "scores": [round(float(score), 6) for score in scores]}


def _handler(net):
    class Handler(BaseHTTPRequestHandler):
        """GET / is the page, POST /answer takes a drawing. Requests that name another host are refused (rebinding)."""

        timeout = 10

        def do_GET(self):
            if self.path != "/":
                return self._send(404, "text/plain", b"not here")
            return self._send(200, "text/html; charset=utf-8", PAGE.encode())

        def do_POST(self):
            if self.path != "/answer" or self.headers.get("Content-Length") != str(SIDE * SIDE):
                return self._json(400, {"error": f"/answer takes a drawing of {SIDE * SIDE} bytes"})
            try:
                return self._json(200, answer(net, self.rfile.read(SIDE * SIDE)))
            except ValueError as error:
                return self._json(400, {"error": str(error)})

        def _json(self, status, value):
            self._send(status, "application/json", json.dumps(value).encode())

        def _send(self, status, kind, body):
            port = self.server.server_address[1]
            if self.headers.get("Host") not in (f"127.0.0.1:{port}", f"localhost:{port}"):
                status, kind, body = 403, "text/plain", b"this page is for this machine only"
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            """Nothing is logged."""

    return Handler


def server(net, port=0):
    """A server that is ready; `serve_forever` runs it."""
    return ThreadingHTTPServer(("127.0.0.1", port), _handler(net))


def serve(net, port=0, browser=True):
    """Show the page until Ctrl-C."""
    with server(net, port) as running:
        address = f"http://127.0.0.1:{running.server_address[1]}/"
        print(f"draw digits at {address} (Ctrl-C ends it)", flush=True)
        if browser:
            webbrowser.open(address)
        try:
            running.serve_forever()
        except KeyboardInterrupt:
            print()
