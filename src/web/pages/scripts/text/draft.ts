import { draftKey, noteSent, readDraft, writeDraft } from "../common/drafts.ts";
import { replace } from "./insert.ts";

/** How long after the last key a draft is stored, in milliseconds. */
const PAUSE_MS = 300;

/** Keeps what is typed into a field, and puts it back when the page is opened again. */
export function keepDraft(area: HTMLTextAreaElement): void {
  const { reader } = document.body.dataset;
  if (reader === undefined) return;
  const key = draftKey(reader, area);
  const stored = readDraft(key);
  const { defaultValue } = area;
  // The page of a refused form begins with the draft itself.
  const base = stored?.text === defaultValue ? stored.base : defaultValue;
  if (stored && stored.text !== area.value && area.value === defaultValue) {
    if (stored.base === defaultValue) area.value = stored.text;
    offer(area, stored.text);
  }
  let timer: number | undefined;
  const save = (): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    const { value } = area;
    writeDraft(
      key,
      value === defaultValue || value.trim() === "" ? undefined : { text: value, base },
    );
  };
  area.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(save, PAUSE_MS);
  });
  window.addEventListener("pagehide", save);
  area.form?.addEventListener("submit", ({ submitter }) => {
    save();
    if (submitter?.getAttribute("formtarget") !== "_blank") noteSent([key]);
  });
}

/** Says that there is a draft, and lets the reader choose between it and the text of the page. */
function offer(area: HTMLTextAreaElement, draft: string): void {
  const isPutBack = area.value === draft;
  const note = document.createElement("p");
  note.className = "hint";
  note.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain";
  button.textContent = isPutBack ? "Discard it" : "Use it";
  button.addEventListener("click", () => {
    replace(area, 0, area.value.length, isPutBack ? area.defaultValue : draft);
    note.remove();
  });
  note.append(
    isPutBack
      ? "Your draft is here again. "
      : "You have a draft of an earlier version of this text. ",
    button,
  );
  area.after(note);
}
