/** The script of pages with a field for a text: what the modules of `text` add to each. */
import { completeReferences } from "./text/complete.ts";
import { keepDraft } from "./text/draft.ts";
import { formatOnDemand } from "./text/format.ts";
import { uploadInPlace } from "./text/files.ts";
import { previewInPlace } from "./text/preview.ts";
import { quoteInPlace } from "./text/quote.ts";

const known = new WeakSet<Element>();

function equip(root: ParentNode): void {
  for (const field of root.querySelectorAll<HTMLElement>(".text-field")) {
    const area = field.querySelector("textarea");
    if (!area || known.has(field)) continue;
    known.add(field);
    keepDraft(area);
    formatOnDemand(field, area);
    previewInPlace(field, area);
    uploadInPlace(field, area);
    completeReferences(area);
  }
}

equip(document);
// Other scripts put forms into the page.
new MutationObserver((changes) => {
  if (changes.some(({ addedNodes }) => addedNodes.length > 0)) equip(document);
}).observe(document.body, { childList: true, subtree: true });
quoteInPlace();
