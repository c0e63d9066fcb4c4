/** Buttons with `data-copy` copy its value, those with `data-copy-file` a file, and say so. */
export function copyOnClick(): void {
  document.addEventListener("click", ({ target }) => {
    const button = (target as Element).closest("button");
    const { copy, copyFile } = button?.dataset ?? {};
    if (button && copy !== undefined) void show(button, writeClipboard(button, copy));
    if (button && copyFile !== undefined) void show(button, copyFrom(button, copyFile));
  });
}

async function show(button: HTMLButtonElement, copying: Promise<boolean>): Promise<void> {
  const isCopied = await copying.catch(() => false);
  button.textContent = isCopied ? "Copied" : "Not possible";
}

async function copyFrom(button: HTMLElement, address: string): Promise<boolean> {
  const response = await window.fetch(address);
  return response.ok && (await writeClipboard(button, await response.text()));
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
