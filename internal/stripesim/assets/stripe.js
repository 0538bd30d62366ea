// A local stand-in for Stripe.js v3. It has the part of its surface that a card
// checkout uses, draws the card form into the page itself (no iframe), and talks to
// the simulator it was loaded from. Every call resolves to {x} or {error}.
(() => {
  'use strict';
  const origin = new URL(document.currentScript.src).origin;

  const TEST_CARDS = [
    ['Visa, succeeds', '4242424242424242'],
    ['Declined', '4000000000000002'],
    ['Insufficient funds', '4000000000009995'],
    ['3-D Secure', '4000000000003220'],
  ];

  const el = (tag, attrs = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attrs)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };

  const loadStyle = () => {
    const href = origin + '/_sim/js/v3/card.css';
    if (!document.querySelector(`link[href="${href}"]`)) {
      document.head.append(el('link', { rel: 'stylesheet', href }));
    }
  };

  // ---- talking to the simulator ----

  const encode = (value, name, out) => {
    if (value === undefined || value === null) return;
    if (Array.isArray(value)) value.forEach((v, i) => encode(v, `${name}[${i}]`, out));
    else if (typeof value === 'object') {
      for (const [k, v] of Object.entries(value)) encode(v, name ? `${name}[${k}]` : k, out);
    } else out.append(name, String(value));
  };

  const unreachable = () => ({
    type: 'api_connection_error',
    message: 'The payment service cannot be reached. Check your connection and try again.',
  });

  // request resolves to {value} or {error}; it never throws.
  const request = async (key, method, path, params = {}) => {
    const form = new URLSearchParams();
    encode(params, '', form);
    const url = origin + path + (method === 'GET' && form.size ? '?' + form : '');
    try {
      const response = await fetch(url, {
        method,
        headers: { Authorization: 'Bearer ' + key },
        body: method === 'GET' ? undefined : form,
      });
      const body = await response.json();
      return body.error ? { error: body.error } : { value: body };
    } catch {
      return { error: unreachable() };
    }
  };

  // ---- the card form ----

  const onlyDigits = (s) => s.replace(/\D/g, '');
  const isAmex = (digits) => /^3[47]/.test(digits);

  const formatNumber = (digits) => {
    const cut = isAmex(digits) ? [4, 6, 5] : [4, 4, 4, 4, 3];
    const groups = [];
    for (const n of cut) {
      if (!digits) break;
      groups.push(digits.slice(0, n));
      digits = digits.slice(n);
    }
    return groups.join(' ');
  };

  const formatExpiry = (digits) => {
    if (/^[2-9]/.test(digits)) digits = '0' + digits;
    digits = digits.slice(0, 4);
    return digits.length > 2 ? digits.slice(0, 2) + ' / ' + digits.slice(2) : digits;
  };

  const passesLuhn = (digits) => {
    let sum = 0;
    for (let i = 0; i < digits.length; i++) {
      let d = Number(digits[digits.length - 1 - i]);
      if (i % 2 === 1) d = d > 4 ? 2 * d - 9 : 2 * d;
      sum += d;
    }
    return sum % 10 === 0;
  };

  const problem = (code, message) => ({ type: 'validation_error', code, message });

  // Each field says how it is drawn, formatted and checked; check returns a problem or null.
  const FIELDS = {
    number: {
      label: 'Card number', autocomplete: 'cc-number', placeholder: '1234 1234 1234 1234', limit: 19, format: formatNumber,
      check: (digits) => {
        if (digits.length < (isAmex(digits) ? 15 : 16)) return problem('incomplete_number', 'Your card number is incomplete.');
        return passesLuhn(digits) ? null : problem('invalid_number', 'Your card number is invalid.');
      },
    },
    expiry: {
      label: 'Expiry date', autocomplete: 'cc-exp', placeholder: 'MM / YY', limit: 4, format: formatExpiry,
      check: (digits) => {
        if (digits.length < 4) return problem('incomplete_expiry', "Your card's expiration date is incomplete.");
        const month = Number(digits.slice(0, 2)), year = 2000 + Number(digits.slice(2));
        if (month < 1 || month > 12) return problem('invalid_expiry_month', "Your card's expiration month is invalid.");
        const now = new Date();
        const past = year < now.getFullYear() || (year === now.getFullYear() && month < now.getMonth() + 1);
        return past ? problem('invalid_expiry_year_past', "Your card's expiration date is in the past.") : null;
      },
    },
    cvc: {
      label: 'Security code', autocomplete: 'cc-csc', placeholder: 'CVC', limit: 4, format: (d) => d,
      check: (digits, all) => {
        const want = isAmex(all.number) ? 4 : 3;
        return digits.length < want ? problem('incomplete_cvc', "Your card's security code is incomplete.") : null;
      },
    },
  };

  class CardForm {
    constructor() {
      this.listeners = {};
      this.inputs = {};
      this.touched = {};
      this.root = null;
      this.revision = 0; // rises with every edit
    }

    // mount draws the form into an element or selector.
    mount(where) {
      const host = typeof where === 'string' ? document.querySelector(where) : where;
      if (!host) throw new Error(`The element ${where} to mount the card form in does not exist.`);
      loadStyle();
      const parts = Object.keys(FIELDS).map((name) => this.drawField(name));
      const tests = el('div', { class: 'sim-tests', role: 'group', 'aria-label': 'Fill in a test card' },
        el('span', { class: 'sim-tests-title' }, 'Test cards'));
      for (const [label, number] of TEST_CARDS) {
        const button = el('button', { type: 'button', class: 'sim-test', 'data-card': number }, label);
        button.addEventListener('click', () => this.fill(number));
        tests.append(button);
      }
      this.root = el('div', { class: 'sim-card', role: 'group', 'aria-label': 'Card details' }, ...parts, tests);
      host.replaceChildren(this.root);
      queueMicrotask(() => this.emit('ready', {}));
      return this;
    }

    drawField(name) {
      const spec = FIELDS[name], id = 'card-' + name;
      const input = el('input', {
        id, type: 'text', inputmode: 'numeric', autocomplete: spec.autocomplete, placeholder: spec.placeholder,
        'aria-describedby': id + '-error', 'aria-required': 'true', spellcheck: 'false', autocapitalize: 'off',
      });
      input.addEventListener('input', () => this.typed(name));
      input.addEventListener('blur', () => {
        if (input.value) this.touched[name] = true;
        this.showError(name);
      });
      this.inputs[name] = input;
      return el('div', { class: 'sim-field sim-' + name },
        el('label', { for: id }, spec.label), input,
        el('span', { class: 'sim-error', id: id + '-error', 'aria-live': 'polite' }));
    }

    // typed reformats a field and keeps the caret behind the same digit.
    typed(name) {
      const input = this.inputs[name], spec = FIELDS[name];
      const before = onlyDigits(input.value.slice(0, input.selectionStart)).length;
      const atEnd = input.selectionStart === input.value.length;
      const next = spec.format(onlyDigits(input.value).slice(0, spec.limit));
      if (next !== input.value) {
        input.value = next;
        let caret = next.length;
        if (!atEnd) for (caret = 0; caret < next.length && onlyDigits(next.slice(0, caret)).length < before;) caret++;
        input.setSelectionRange(caret, caret);
      }
      this.revision++;
      const full = onlyDigits(next).length >= { number: isAmex(onlyDigits(next)) ? 15 : 16, expiry: 4, cvc: 4 }[name];
      if (full) this.touched[name] = true;
      if (this.touched[name]) this.showError(name);
      if (name === 'number' && this.touched.cvc) this.showError('cvc');
      this.emit('change', { elementType: 'payment', complete: !this.firstProblem(), empty: this.empty(), collapsed: false, value: { type: 'card' } });
    }

    fill(number) {
      const values = { number: formatNumber(number), expiry: '12 / 34', cvc: '123' };
      for (const [name, value] of Object.entries(values)) {
        this.inputs[name].value = value;
        this.typed(name);
        this.touched[name] = true;
        this.showError(name);
      }
      this.inputs.number.focus();
    }

    digits() {
      return Object.fromEntries(Object.entries(this.inputs).map(([name, input]) => [name, onlyDigits(input.value)]));
    }

    empty() { return Object.values(this.digits()).every((d) => d === ''); }

    check(name) {
      const all = this.digits();
      return FIELDS[name].check(all[name], all);
    }

    firstProblem() {
      for (const name of Object.keys(FIELDS)) {
        const found = this.check(name);
        if (found) return { name, error: found };
      }
      return null;
    }

    showError(name) {
      const input = this.inputs[name];
      const found = this.touched[name] ? this.check(name) : null;
      input.setAttribute('aria-invalid', found ? 'true' : 'false');
      const text = found ? found.message : '';
      const place = input.nextElementSibling;
      if (place.textContent !== text) place.textContent = text;
    }

    // validate shows every problem and focuses the first.
    validate() {
      for (const name of Object.keys(FIELDS)) {
        this.touched[name] = true;
        this.showError(name);
      }
      const first = this.firstProblem();
      if (first) this.inputs[first.name].focus();
      return first ? first.error : null;
    }

    methodData(billing) {
      const d = this.digits();
      return {
        type: 'card',
        card: { number: d.number, exp_month: Number(d.expiry.slice(0, 2)), exp_year: 2000 + Number(d.expiry.slice(2)), cvc: d.cvc },
        billing_details: billing,
      };
    }

    on(event, handler) {
      (this.listeners[event] ||= []).push(handler);
      return this;
    }

    once(event, handler) {
      const one = (e) => { this.off(event, one); handler(e); };
      return this.on(event, one);
    }

    off(event, handler) {
      this.listeners[event] = (this.listeners[event] || []).filter((h) => h !== handler);
      return this;
    }

    emit(event, data) { for (const h of this.listeners[event] || []) h(data); }
    focus() { this.inputs.number?.focus(); }
    blur() { document.activeElement?.blur(); }
    clear() { for (const name of Object.keys(this.inputs)) { this.inputs[name].value = ''; this.touched[name] = false; this.typed(name); } }
    update() { return this; }
    collapse() {}

    unmount() {
      this.root?.remove();
      this.root = null;
    }

    destroy() {
      this.unmount();
      this.listeners = {};
    }
  }

  class Elements {
    constructor(options = {}) {
      this.options = options;
      this.form = null;
      this.submitted = -1; // revision of the form that submit() accepted
    }

    create(type) {
      if (type !== 'payment' && type !== 'card') throw new Error(`This stand-in has the elements payment and card, not ${type}.`);
      if (this.form) throw new Error('An element was created already; use getElement.');
      this.form = new CardForm();
      return this.form;
    }

    getElement() { return this.form; }
    update(options) { Object.assign(this.options, options); }
    async fetchUpdates() { return {}; }

    async submit() {
      if (!this.form) return { error: { type: 'invalid_request_error', message: 'Create and mount a Payment Element before elements.submit().' } };
      const error = this.form.validate();
      if (error) return { error };
      this.submitted = this.form.revision;
      return { selectedPaymentMethod: 'card' };
    }

    // ready says what stands in the way of using the form, if anything does.
    notReady(caller) {
      if (!this.form || this.submitted !== this.form.revision) {
        return { type: 'invalid_request_error', message: `elements.submit() must be called before ${caller}.` };
      }
      return null;
    }
  }

  // ---- 3-D Secure in the page ----

  const askBank = (pageURL, intent) => new Promise((resolve) => {
    const decide = (result) => async () => {
      for (const b of dialog.querySelectorAll('button')) b.disabled = true;
      try {
        await fetch(pageURL, { method: 'POST', body: new URLSearchParams({ result, stay: '1' }) });
        dialog.close();
      } catch {
        message.textContent = unreachable().message;
        for (const b of dialog.querySelectorAll('button')) b.disabled = false;
      }
    };
    const approve = el('button', { type: 'button', class: 'sim-approve', id: 'sim-3ds-approve' }, 'Approve payment');
    const fail = el('button', { type: 'button', class: 'sim-fail', id: 'sim-3ds-fail' }, 'Fail authentication');
    const message = el('p', { class: 'sim-error', 'aria-live': 'polite' });
    approve.addEventListener('click', decide('approve'));
    fail.addEventListener('click', decide('fail'));
    const dialog = el('dialog', { class: 'sim-3ds', 'aria-labelledby': 'sim-3ds-title' },
      el('h2', { id: 'sim-3ds-title' }, 'Your bank asks: is this you?'),
      el('p', {}, `Payment ${intent.id}. This is the simulator's bank; you decide.`),
      el('div', { class: 'sim-actions' }, approve, fail), message);
    dialog.addEventListener('cancel', (e) => e.preventDefault());
    dialog.addEventListener('close', () => { dialog.remove(); resolve(); });
    document.body.append(dialog);
    loadStyle();
    dialog.showModal();
    approve.focus();
  });

  const idOf = (secret) => String(secret).split('_secret_')[0];

  class StripeClient {
    constructor(key) {
      if (!/^pk_test_\w+$/.test(key || '')) throw new Error('Stripe() needs a publishable test key (pk_test_…). This is the local simulator; live keys are never used with it.');
      this.key = key;
    }

    elements(options) { return new Elements(options); }

    async createPaymentMethod(options) {
      let data = options;
      if (options.elements) {
        const error = options.elements.notReady('stripe.createPaymentMethod()');
        if (error) return { error };
        data = options.elements.form.methodData(options.params?.billing_details);
      } else if (options.card instanceof CardForm) {
        const error = options.card.validate();
        if (error) return { error };
        data = options.card.methodData(options.billing_details);
      }
      const { value, error } = await request(this.key, 'POST', '/v1/payment_methods', data);
      return error ? { error } : { paymentMethod: value };
    }

    async createConfirmationToken({ elements, params = {} }) {
      const notReady = elements.notReady('stripe.createConfirmationToken()');
      if (notReady) return { error: notReady };
      const { payment_method_data: given = {}, ...rest } = params;
      const body = { ...rest, payment_method_data: { ...elements.form.methodData(given.billing_details) } };
      const { value, error } = await request(this.key, 'POST', '/v1/confirmation_tokens', body);
      return error ? { error } : { confirmationToken: value };
    }

    async retrievePaymentIntent(clientSecret) {
      const { value, error } = await request(this.key, 'GET', '/v1/payment_intents/' + idOf(clientSecret), { client_secret: clientSecret });
      return error ? { error } : { paymentIntent: value };
    }

    async confirm(clientSecret, params) {
      const { value, error } = await request(this.key, 'POST', `/v1/payment_intents/${idOf(clientSecret)}/confirm`, { client_secret: clientSecret, ...params });
      return error ? { error } : { paymentIntent: value };
    }

    // act lets the customer do what an intent in requires_action waits for.
    async act(intent, clientSecret) {
      const action = intent.next_action || {};
      if (action.type === 'redirect_to_url') {
        window.location.assign(action.redirect_to_url.url);
        return new Promise(() => {}); // the page is leaving
      }
      await askBank(action.use_stripe_sdk.stripe_js, intent);
      const after = await this.retrievePaymentIntent(clientSecret);
      if (after.paymentIntent?.status === 'requires_payment_method') {
        return { error: { ...after.paymentIntent.last_payment_error, payment_intent: after.paymentIntent } };
      }
      return after;
    }

    async handleNextAction({ clientSecret }) {
      const { paymentIntent, error } = await this.retrievePaymentIntent(clientSecret);
      if (error) return { error };
      if (paymentIntent.status !== 'requires_action') {
        return { error: { type: 'invalid_request_error', message: `handleNextAction: the PaymentIntent is in the ${paymentIntent.status} state, not requires_action.`, payment_intent: paymentIntent } };
      }
      return this.act(paymentIntent, clientSecret);
    }

    handleCardAction(clientSecret) { return this.handleNextAction({ clientSecret }); }

    async confirmCardPayment(clientSecret, data = {}, options = {}) {
      const params = { use_stripe_sdk: true };
      const method = data.payment_method;
      if (typeof method === 'string') params.payment_method = method;
      else if (method?.card instanceof CardForm) {
        const error = method.card.validate();
        if (error) return { error };
        params.payment_method_data = method.card.methodData(method.billing_details);
      }
      for (const name of ['return_url', 'receipt_email', 'setup_future_usage', 'shipping']) if (data[name]) params[name] = data[name];
      const result = await this.confirm(clientSecret, params);
      if (result.paymentIntent?.status !== 'requires_action' || options.handleActions === false) return result;
      return this.act(result.paymentIntent, clientSecret);
    }

    async confirmPayment({ elements, clientSecret, confirmParams = {}, redirect = 'always' }) {
      const secret = clientSecret || elements?.options.clientSecret;
      const params = { ...confirmParams };
      if (elements && !confirmParams.confirmation_token) {
        const submitted = await elements.submit();
        if (submitted.error) return submitted;
        params.payment_method_data = elements.form.methodData(confirmParams.payment_method_data?.billing_details);
      }
      if (redirect === 'if_required') params.use_stripe_sdk = true;
      let result = await this.confirm(secret, params);
      if (result.paymentIntent?.status === 'requires_action') result = await this.act(result.paymentIntent, secret);
      if (result.error || redirect === 'if_required') return result;
      const target = new URL(confirmParams.return_url, window.location.href);
      target.searchParams.set('payment_intent', idOf(secret));
      target.searchParams.set('payment_intent_client_secret', secret);
      target.searchParams.set('redirect_status', 'succeeded');
      window.location.assign(target);
      return new Promise(() => {});
    }
  }

  window.Stripe = Object.assign((key) => new StripeClient(key), { version: 3, simulator: true });
})();
