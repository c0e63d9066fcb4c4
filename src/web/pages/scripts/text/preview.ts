import { localize } from "../common/localize.ts";

/** Makes the buttons of a field tabs, of which one shows the preview in place of the text. */
export function previewInPlace(field: HTMLElement, area: HTMLTextAreaElement): void {
  const list = field.querySelector(".text-tabs");
  const write = list?.querySelector<HTMLButtonElement>("[data-view=write]");
  const preview = list?.querySelector<HTMLButtonElement>("[data-view=preview]");
  if (!list || !write || !preview) return;
  const panel = document.createElement("div");
  panel.id = `${area.id}-preview`;
  panel.className = "text-preview";
  panel.tabIndex = 0;
  panel.hidden = true;
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-label", preview.textContent);
  area.after(panel);
  list.setAttribute("role", "tablist");
  const tabs = [
    { tab: write, shown: area },
    { tab: preview, shown: panel },
  ];
  const select = (chosen: HTMLButtonElement): void => {
    const { height } = area.getBoundingClientRect();
    if (height > 0) panel.style.minHeight = `${height}px`;
    for (const { tab, shown } of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      shown.hidden = !isChosen;
    }
    field.classList.toggle("previewing", chosen === preview);
    if (chosen === preview) void render(area, preview, panel);
  };
  for (const { tab, shown } of tabs) {
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", shown.id);
    tab.addEventListener("click", (event) => {
      event.preventDefault();
      select(tab);
    });
    tab.addEventListener("keydown", ({ key }) => {
      if (key !== "ArrowLeft" && key !== "ArrowRight") return;
      const other = tab === write ? preview : write;
      select(other);
      other.focus();
    });
  }
  // A text that is refused must be seen.
  area.addEventListener("invalid", () => select(write));
  select(write);
}

/** Shows the text as the service renders it. */
async function render(
  area: HTMLTextAreaElement,
  button: HTMLButtonElement,
  panel: HTMLElement,
): Promise<void> {
  panel.textContent = "Loading…";
  const token = area.form?.querySelector<HTMLInputElement>("input[name=_csrf]")?.value ?? "";
  const body = new URLSearchParams([
    ["_csrf", token],
    [button.name, area.name],
    [area.name, area.value],
  ]);
  const answer = await fetch(button.formAction, { method: "POST", body }).catch(() => undefined);
  const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
  const rendered = page.querySelector("#preview");
  if (rendered) {
    localize(rendered);
    panel.replaceChildren(...rendered.childNodes);
  } else {
    panel.textContent =
      page.querySelector("main h1")?.textContent ?? "The service can't be reached.";
  }
}
