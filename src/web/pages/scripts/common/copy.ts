/** Buttons with `data-copy` copy its value, and say so. */
export function copyOnClick(): void {
  document.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest<HTMLButtonElement>("button[data-copy]");
    if (button) void copy(button, button.dataset["copy"] ?? "");
  });
}

async function copy(button: HTMLButtonElement, text: string): Promise<void> {
  const isCopied = await writeClipboard(button, text);
  button.textContent = isCopied ? "Copied" : "Not possible";
}

async function writeClipboard(button: HTMLElement, text: string): Promise<boolean> {
  // Browsers have no clipboard for pages without TLS, but for those of this machine.
  if (!isSecureContext) return copySelection(button, text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}

function copySelection(button: HTMLElement, text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "hidden";
  button.after(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  button.focus();
  return isCopied;
}
