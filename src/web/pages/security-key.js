/**
 * Asks the reader's security key for what a form needs, and sends the form. Without scripts, or
 * where the browser knows no WebAuthn, the form is not sent, and its alert shows why.
 */
const form = document.querySelector("form[data-webauthn]");
const alert = form.querySelector("[role=alert]");

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void send();
});

async function send() {
  alert.textContent = "";
  try {
    const credential = await ask(form.dataset.webauthn, JSON.parse(form.dataset.options));
    form.elements.response.value = JSON.stringify(credential.toJSON());
    form.submit();
  } catch (error) {
    alert.textContent =
      error.name === "InvalidStateError"
        ? "This key is one of yours already."
        : "The key did not answer. Try again.";
  }
}

function ask(action, options) {
  if (action === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return navigator.credentials.create({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey });
}
