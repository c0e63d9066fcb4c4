/** The script of the form for a label: its preview, and one color in both fields. */
const form = document.querySelector<HTMLFormElement>("form:has(.chip)");
const chip = form?.querySelector(".chip");

const field = (name: string): HTMLInputElement | null | undefined =>
  form?.querySelector<HTMLInputElement>(`input[name="${name}"]`);

const [title, color, hex] = [field("name"), field("color"), field("hex")];

/** The color as the field for it takes it; undefined for digits that are no color. */
function toColor(text: string): string | undefined {
  const [, digits = ""] = /^\s*#?((?:[0-9a-f]{3}){1,2})\s*$/i.exec(text) ?? [];
  if (digits === "") return undefined;
  return `#${digits.length === 6 ? digits : digits.replaceAll(/./g, "$&$&")}`.toLowerCase();
}

function preview(): void {
  const dot = chip?.querySelector("svg");
  if (!chip || !dot) return;
  dot.querySelector("circle")?.setAttribute("fill", color?.value ?? "");
  chip.replaceChildren(dot, title?.value || "Label");
}

title?.addEventListener("input", preview);
color?.addEventListener("input", () => {
  if (hex) hex.value = color.value;
  preview();
});
hex?.addEventListener("input", () => {
  const typed = toColor(hex.value);
  if (!color || typed === undefined) return;
  color.value = typed;
  preview();
});
