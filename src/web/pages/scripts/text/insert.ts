/**
 * Replaces a part of a text as typing does: the browser can undo it, and listeners hear of it.
 *
 * @param selected What is selected afterwards, by offsets in the new part; its end by default.
 */
export function replace(
  area: HTMLTextAreaElement,
  start: number,
  end: number,
  text: string,
  selected: readonly [number, number] = [text.length, text.length],
): void {
  area.focus();
  area.setSelectionRange(start, end);
  // Deprecated, and the only way that keeps what the browser can undo.
  const isTyped =
    text === "" ? document.execCommand("delete") : document.execCommand("insertText", false, text);
  if (!isTyped) {
    area.setRangeText(text);
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  }
  area.setSelectionRange(start + selected[0], start + selected[1]);
}

/** Adds a paragraph to the end of a text. */
export function append(area: HTMLTextAreaElement, text: string): void {
  const { value } = area;
  const gap = value === "" || value.endsWith("\n\n") ? "" : value.endsWith("\n") ? "\n" : "\n\n";
  replace(area, value.length, value.length, gap + text);
}
