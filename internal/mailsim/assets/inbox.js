// Keeps the list as it is on the server. Without this script the page reloads
// itself every few seconds instead.
"use strict";

const pause = 1000; // ms
let tag = "";

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
  if (answer.status !== 200) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  tag = answer.headers.get("ETag") || "";
  const now = document.getElementById("live");
  const next = page.getElementById("live");
  if (!now || !next || now.isEqualNode(next)) return;
  const focused = now.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  now.replaceChildren(...next.childNodes);
  document.title = page.title;
  if (focused) now.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

async function keep() {
  try {
    await refresh();
  } catch {
    // The server is away; what is shown stays, and the next round asks again.
  }
  setTimeout(keep, pause);
}

document.addEventListener("visibilitychange", () => refresh().catch(() => {}));
setTimeout(keep, pause);
