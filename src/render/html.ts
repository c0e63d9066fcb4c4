const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Escapes text for an element or, with its quotes, for a quoted attribute. */
export function escapeHtml(text: string, hasQuotes = true): string {
  return text.replaceAll(
    hasQuotes ? /[&<>"]/g : /[&<>]/g,
    (character) => ENTITIES[character] ?? character,
  );
}

/**
 * Formats attributes, each with a leading space. Undefined values are omitted, empty ones are
 * written.
 */
export function formatAttributes(attributes: Record<string, string | undefined>): string {
  let text = "";
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) text += ` ${name}="${escapeHtml(value)}"`;
  }
  return text;
}
