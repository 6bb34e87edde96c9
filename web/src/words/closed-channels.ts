/**
 * The first script of a server's page. WebRTC could reach any address, and no policy of today's browsers covers it
 * (they know no `webrtc 'block'`): its constructors are taken away, and so is every frame, because a frame of its own
 * (`srcdoc`, which no `frame-src` forbids) would have them again. Functions needed afterwards are saved beforehand: the
 * page may change everything else.
 */
export const closeChannels = `<script>(() => {
  const { apply, defineProperty } = { apply: Reflect.apply, defineProperty: Object.defineProperty };
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "mozRTCPeerConnection", "RTCIceTransport", "WebTransport"])
    defineProperty(globalThis, name, { value: undefined });
  const remove = Element.prototype.remove;
  const { observe } = MutationObserver.prototype;
  const clear = (root, find) => {
    for (let frame; (frame = apply(find, root, ["iframe,frame,object,embed"])) !== null; ) apply(remove, frame, []);
  };
  const watch = (root, find) => {
    clear(root, find);
    apply(observe, new Observer(() => clear(root, find)), [root, { childList: true, subtree: true }]);
  };
  const Observer = MutationObserver;
  const findIn = ShadowRoot.prototype.querySelector;
  const { attachShadow } = Element.prototype;
  const attach = function (options) {
    const root = apply(attachShadow, this, [options]);
    watch(root, findIn);
    return root;
  };
  defineProperty(Element.prototype, "attachShadow", { value: attach });
  for (const [owner, name] of [[Element.prototype, "setHTMLUnsafe"], [ShadowRoot.prototype, "setHTMLUnsafe"], [Document, "parseHTMLUnsafe"]])
    defineProperty(owner, name, { value: undefined });
  watch(document, Document.prototype.querySelector);
})();</script>`;

/** Shadow trees that a parser makes are invisible, and could hold a frame. */
export function withoutParsedShadows(html: string): string {
  return html.replace(/shadowroot(?=mode\b)/gi, "data-$&");
}
