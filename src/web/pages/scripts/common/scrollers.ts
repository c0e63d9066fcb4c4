/**
 * Gives a tab stop to each block of a text that scrolls to the side, since not all browsers give
 * one. A block that fits has none, which would be in the reader's way.
 */
export function focusScrollers(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) focusIfScrolled(target as HTMLElement);
  });
  for (const block of document.querySelectorAll<HTMLElement>(".markup :is(pre, table)")) {
    focusIfScrolled(block);
    observer.observe(block);
  }
}

function focusIfScrolled(block: HTMLElement): void {
  if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  else block.removeAttribute("tabindex");
}
