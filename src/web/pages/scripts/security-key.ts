/**
 * The script of pages with a `SecurityKeyForm`: asks the reader's security key for what the form
 * needs, and sends the form. Without scripts, or where the browser knows no WebAuthn, the form is
 * not sent, and its alert shows why.
 */
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-webauthn]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
}

async function send(form: HTMLFormElement): Promise<void> {
  const alert = form.querySelector("[role=alert]") as HTMLElement;
  const field = form.elements.namedItem("response") as HTMLInputElement;
  alert.textContent = "";
  try {
    const credential = await ask(form.dataset["webauthn"], form.dataset["options"] ?? "");
    field.value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    alert.textContent =
      (error as Error).name === "InvalidStateError"
        ? "This key is one of yours already."
        : "The key did not answer. Try again.";
  }
}

function ask(action: string | undefined, json: string): Promise<Credential | null> {
  if (action === "create") {
    const options = JSON.parse(json) as PublicKeyCredentialCreationOptionsJSON;
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return navigator.credentials.create({ publicKey });
  }
  const options = JSON.parse(json) as PublicKeyCredentialRequestOptionsJSON;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey });
}
