/** The script of pages with a field for a text: what the modules of `text` add to each. */
import { completeReferences } from "./text/complete.ts";
import { keepDraft } from "./text/draft.ts";
import { formatOnDemand } from "./text/format.ts";
import { uploadInPlace } from "./text/files.ts";
import { previewInPlace } from "./text/preview.ts";
import { quoteInPlace } from "./text/quote.ts";

function enhance(field: HTMLElement): void {
  const area = field.querySelector("textarea");
  if (!area) return;
  keepDraft(area);
  formatOnDemand(field, area);
  previewInPlace(field, area);
  uploadInPlace(field, area);
  completeReferences(area);
}

for (const field of document.querySelectorAll<HTMLElement>(".text-field")) enhance(field);
// A field that another script has put into the page says so.
document.addEventListener("text-field", ({ target }) => enhance(target as HTMLElement));
quoteInPlace();
