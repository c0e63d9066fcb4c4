/**
 * The script of pages with a diff. Links with `data-part` name a part of the page, which is
 * replaced by that part of the page to which they lead: lines around a change, more files.
 */
import { localize } from "./common/localize.ts";

document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  void replacePart(link);
});

async function replacePart(link: HTMLAnchorElement): Promise<void> {
  const id = link.dataset["part"] ?? "";
  const old = document.getElementById(id);
  const answer = await fetch(link.href).catch(() => undefined);
  const page = answer?.ok
    ? new DOMParser().parseFromString(await answer.text(), "text/html")
    : null;
  const part = page?.getElementById(id);
  if (!page || !old) {
    // Without a part, the link's page shows why.
    location.assign(link.href);
    return;
  }
  const files = [...page.querySelectorAll(".diff-file")];
  const parts = id === MORE ? [...files, ...(part ? [part] : [])] : part ? [part] : [];
  for (const each of parts) localize(each);
  old.replaceWith(...parts);
  focusOn(link.hash, parts[0]);
}

/** The place of the link to more files, which the next ones replace. */
const MORE = "diff-more";

/** Gives the focus to the line that a link names, or else to the first file that is new. */
function focusOn(hash: string, part: Element | undefined): void {
  const named = hash === "" ? null : document.getElementById(hash.slice(1));
  const link = (named ?? part)?.querySelector<HTMLElement>("a, summary");
  link?.focus({ preventScroll: true });
}

/**
 * Leads to the file that the address names where another page of the diff has it: the tree links
 * all files, by paths.
 */
async function findFile(): Promise<void> {
  const [, digest, line = ""] = /^#diff-([0-9a-f]{40})([LR]\d+)?$/.exec(location.hash) ?? [];
  if (digest === undefined || document.getElementById(`diff-${digest}`) || !isSecureContext) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>(".diff-tree a[href^='?']")) {
    const path = new URL(link.href).searchParams.get("skip-to") ?? "";
    const bytes = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(path));
    const hex = Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0"));
    if (hex.join("") !== digest) continue;
    location.replace(`${link.href}#diff-${digest}${line}`);
    return;
  }
}

void findFile();
