import { localize } from "../common/localize.ts";
import { readPage, reasonOf } from "../common/read-answer.ts";

/** Shows what the form would commit in its place, without sending the page. */
export function showResultsInPlace(form: HTMLFormElement, sync: () => void): void {
  const place = form.querySelector<HTMLElement>("#editor-result");
  if (!place) return;
  for (const button of form.querySelectorAll<HTMLButtonElement>("button[data-result]")) {
    button.addEventListener("click", (event) => {
      if (!form.reportValidity()) return;
      event.preventDefault();
      sync();
      void show(form, button, place);
    });
  }
}

async function show(
  form: HTMLFormElement,
  button: HTMLButtonElement,
  place: HTMLElement,
): Promise<void> {
  place.textContent = "Loading…";
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form, button)) {
    if (typeof value === "string") body.append(name, value);
  }
  // Not `form.action`, which is the buttons of this name.
  const address = form.getAttribute("action") ?? "";
  const answer = await fetch(address, { method: "POST", body }).catch(() => undefined);
  const page = await readPage(answer);
  const shown = page?.getElementById(place.id);
  if (answer?.ok && shown) {
    localize(shown);
    place.replaceChildren(...shown.childNodes);
  } else {
    place.textContent = reasonOf(page);
  }
  place.focus({ preventScroll: true });
  place.scrollIntoView({ block: "nearest" });
}
