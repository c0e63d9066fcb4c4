const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Text as it stands in HTML, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/** The attributes that have a value, each with the space before it; an empty value is written too. */
export function formatAttributes(attributes: Record<string, string | undefined>): string {
  let text = "";
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) text += ` ${name}="${escapeHtml(value)}"`;
  }
  return text;
}
