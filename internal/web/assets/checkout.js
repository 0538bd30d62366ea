// The card form. Stripe.js, or its local stand-in, mounts the fields; this
// script turns them into a confirmation token and sends the form once.
(() => {
  "use strict";

  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // appearance hands our tokens to the fields, which live in a frame of
  // another origin and cannot inherit them.
  function appearance() {
    return {
      theme: matchMedia("(prefers-color-scheme: dark)").matches ? "night" : "stripe",
      variables: {
        colorPrimary: token("--accent"),
        colorBackground: token("--raised"),
        colorText: token("--ink"),
        colorDanger: token("--danger"),
        borderRadius: token("--radius"),
        fontFamily: "Helvetica Neue, Helvetica, Arial, sans-serif",
      },
    };
  }

  function start(form) {
    if (form.dataset.ready) return;
    form.dataset.ready = "yes";
    const box = form.querySelector("#payment");
    const pay = form.querySelector("[data-pay]");
    const region = form.querySelector("[data-pay-error]");
    const field = form.elements.namedItem("confirmation_token");
    const label = pay.textContent;
    let stripe = null;
    let elements = null;
    let sent = false;

    const tell = (message) => {
      region.replaceChildren();
      if (!message) return;
      const line = document.createElement("p");
      line.className = "field-error";
      line.textContent = message;
      region.append(line);
    };
    const busy = (on) => {
      pay.disabled = on;
      pay.textContent = on ? pay.dataset.busyLabel : label;
      form.setAttribute("aria-busy", String(on));
    };
    const ready = () => {
      sent = false;
      field.value = "";
      busy(false);
    };

    if (typeof window.Stripe !== "function") {
      pay.disabled = true;
      tell("The card form could not be loaded. Check the connection and load this page again; nothing has been charged.");
      return;
    }
    stripe = window.Stripe(box.dataset.publishableKey);
    elements = stripe.elements({
      mode: "payment",
      amount: Number(box.dataset.amount),
      currency: box.dataset.currency,
      paymentMethodTypes: ["card"],
      appearance: appearance(),
    });
    elements.create("payment", { fields: { billingDetails: { name: "never", email: "never" } } }).mount("#payment");
    ready();

    // A page that comes back out of the browser's memory would otherwise keep
    // its busy button and a token that was used already.
    addEventListener("pageshow", (event) => {
      if (event.persisted) ready();
    });

    const value = (name) => form.elements.namedItem(name)?.value || box.dataset[name] || undefined;

    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (sent) return;
      sent = true;
      busy(true);
      tell("");
      const fail = (error) => {
        ready();
        tell(error?.message || "The card could not be read. Nothing has been charged; please try again.");
      };
      try {
        const checked = await elements.submit();
        if (checked?.error) return fail(checked.error);
        const { error, confirmationToken } = await stripe.createConfirmationToken({
          elements,
          params: {
            payment_method_data: { billing_details: { name: value("name"), email: value("email") } },
            return_url: box.dataset.returnUrl,
          },
        });
        if (error) return fail(error);
        field.value = confirmationToken.id;
        form.submit();
      } catch (error) {
        console.error(error);
        fail(null);
      }
    });
  }

  const startAll = () => document.querySelectorAll("form[data-card-form]").forEach(start);

  document.querySelector("[data-focus]")?.focus();
  document.addEventListener("order:changed", startAll);
  startAll();
})();
