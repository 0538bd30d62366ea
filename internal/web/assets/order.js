// Keeps the order's page true: the server sends the status fragment again at
// each step, and "done" after the last.
(() => {
  "use strict";

  const box = document.getElementById("order-status");
  const voice = document.getElementById("order-announce");
  if (!box?.dataset.events || typeof EventSource !== "function") return;
  let source = null;
  let done = false;

  function show(html) {
    const next = document.createElement("template");
    next.innerHTML = html;
    // Within a template noscript is parsed as elements; its choice of test
    // cards would be sent along with the card that was typed.
    next.content.querySelectorAll("noscript").forEach((element) => element.remove());
    const now = box.querySelector("[data-state]")?.dataset.state;
    const then = next.content.querySelector("[data-state]")?.dataset.state;
    // A form in which someone may be typing stays until the step changes.
    if (now === then && box.querySelector("form")) return;
    const before = box.querySelector("[data-announce]")?.textContent;
    box.replaceChildren(next.content);
    const after = box.querySelector("[data-announce]")?.textContent;
    if (voice && after && after !== before) voice.textContent = after;
    document.dispatchEvent(new Event("order:changed"));
  }

  function open() {
    if (done || source) return;
    source = new EventSource(box.dataset.events);
    source.addEventListener("status", (event) => show(event.data));
    source.addEventListener("done", () => {
      done = true;
      close();
    });
    // The browser reconnects by itself after a lost connection, but gives up
    // after an error answer, for instance while the server restarts.
    source.addEventListener("error", () => {
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      setTimeout(open, 3000);
    });
  }

  function close() {
    source?.close();
    source = null;
  }

  // An open stream keeps a page out of the browser's memory.
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
  open();
})();
