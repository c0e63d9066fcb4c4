/** The script of the page that writes a file: its field becomes a code editor. */
import { editCode } from "./editor/code.ts";
import { showResultsInPlace } from "./editor/results.ts";
import { keepDraft } from "./text/draft.ts";

const field = document.querySelector<HTMLElement>(".code-field");
const area = field?.querySelector("textarea");
const form = area?.form;

if (field && area && form) {
  // The text must be in the field before the listeners of others read it.
  let write = (): void => undefined;
  const sync = (): void => write();
  form.addEventListener("submit", sync);
  window.addEventListener("pagehide", sync);
  keepDraft(area);
  showResultsInPlace(form, sync);
  write = editCode(field, area, form.querySelector<HTMLInputElement>("[name=tree_path]"));
}
