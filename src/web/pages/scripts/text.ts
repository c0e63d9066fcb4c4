/** The script of pages with a field for a text: what the modules of `text` add to each. */
import { completeReferences } from "./text/complete.ts";
import { keepDraft } from "./text/draft.ts";
import { formatOnDemand } from "./text/format.ts";
import { uploadInPlace } from "./text/files.ts";
import { previewInPlace } from "./text/preview.ts";
import { quoteInPlace } from "./text/quote.ts";

const opened = new WeakSet<Element>();

function open(field: HTMLElement): void {
  const area = field.querySelector("textarea");
  if (!area || opened.has(field)) return;
  opened.add(field);
  keepDraft(area);
  formatOnDemand(field, area);
  previewInPlace(field, area);
  uploadInPlace(field, area);
  completeReferences(area);
}

for (const field of document.querySelectorAll<HTMLElement>(".text-field")) open(field);
// A form that another script puts into the page gets the focus there.
document.addEventListener("focusin", ({ target }) => {
  const field = (target as Element).closest<HTMLElement>(".text-field");
  if (field) open(field);
});
quoteInPlace();
