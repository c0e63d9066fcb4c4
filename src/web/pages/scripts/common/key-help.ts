/** A key, with what it does for a reader. */
export interface NamedKey {
  readonly key: string;
  readonly label: string;
}

/**
 * Opens the dialog that lists keys. Its checkbox turns them off, which people need who speak to
 * their browser (WCAG 2.2, 2.1.4).
 */
export function openKeyHelp(
  shortcuts: readonly NamedKey[],
  areEnabled: boolean,
  enable: (isEnabled: boolean) => void,
): void {
  const dialog = make("dialog", make("h2", "Keys"));
  dialog.className = "keys card";
  dialog.setAttribute("aria-label", "Keys");
  const rows = [
    ...shortcuts.map(({ key, label }) => [key, label] as const),
    ["Esc", "Close a menu"] as const,
  ].map(([key, label]) => make("div", make("dt", make("kbd", key)), make("dd", label)));
  const box = make("input");
  box.type = "checkbox";
  box.checked = areEnabled;
  box.addEventListener("change", () => enable(box.checked));
  const label = make("label", box, "Use keys");
  label.className = "check";
  const close = make("button", "Close");
  close.addEventListener("click", () => dialog.close());
  dialog.append(make("dl", ...rows), label, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.append(...children);
  return element;
}
