// Comfort on the dashboard: countdowns that run, keys that copy. Every page is
// complete without it.
(() => {
  "use strict";

  const span = (seconds) => {
    if (seconds < 60) return `${seconds} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
  };

  const countdowns = [...document.querySelectorAll("time[data-countdown]")];
  const tick = () => {
    for (const element of countdowns) {
      const left = Math.round((Date.parse(element.dataset.countdown) - Date.now()) / 1000);
      element.textContent = left >= 0 ? `in ${span(left)}` : `${span(-left)} ago`;
      element.classList.toggle("overdue", left < 0);
    }
  };
  if (countdowns.length > 0) {
    tick();
    setInterval(tick, 1000);
  }

  for (const button of document.querySelectorAll("button[data-copy]")) {
    if (!navigator.clipboard) break;
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
})();
