import { append } from "./insert.ts";

const find = (): HTMLTextAreaElement | null =>
  document.querySelector<HTMLTextAreaElement>("#new-comment textarea");

/** Adds quotes to the comment that is being written, which keeps the rest of it. */
export function quoteInPlace(): void {
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[data-quote]");
    const area = find();
    if (!link || !area || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void quote(link, area);
  });
}

/** The page to which a link leads has the quoted text in its own form. */
async function quote(link: HTMLAnchorElement, area: HTMLTextAreaElement): Promise<void> {
  const answer = await fetch(link.href).catch(() => undefined);
  const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
  const text = page.querySelector<HTMLTextAreaElement>("#new-comment textarea")?.value;
  if (text === undefined) location.assign(link.href);
  else append(area, text);
}
