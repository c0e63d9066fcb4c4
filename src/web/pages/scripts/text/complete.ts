import { replace } from "./insert.ts";

interface Suggestion {
  readonly text: string;
  readonly label: string;
}

/** A reference that is being typed: its beginning up to the caret. */
const TYPED = /(?<=^|[\s(])[#@][\p{L}\p{N}._-]*$/u;
/** How long after the last key suggestions are asked for, in milliseconds. */
const PAUSE_MS = 150;

/** Offers issues after `#` and users after `@`. The focus stays in the text. */
export function completeReferences(area: HTMLTextAreaElement): void {
  const address = area.dataset["suggestions"];
  if (address === undefined) return;
  const list = document.createElement("ul");
  list.id = `${area.id}-suggestions`;
  list.className = "menu-body suggestions";
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  const state = document.createElement("span");
  state.className = "hidden";
  state.setAttribute("role", "status");
  area.after(list, state);
  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", list.id);

  const options = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>("[role=option]")];
  let chosen = 0;
  const choose = (at: number): void => {
    const all = options();
    chosen = (at + all.length) % all.length;
    for (const [index, option] of all.entries()) {
      option.setAttribute("aria-selected", String(index === chosen));
    }
    area.setAttribute("aria-activedescendant", all[chosen]?.id ?? "");
    all[chosen]?.scrollIntoView({ block: "nearest" });
  };
  const close = (): void => {
    list.hidden = true;
    area.removeAttribute("aria-activedescendant");
    state.textContent = "";
  };
  const accept = (text: string): void => {
    const typed = typedIn(area);
    close();
    replace(area, area.selectionStart - typed.length, area.selectionStart, `${text} `);
  };
  const show = (found: readonly Suggestion[]): void => {
    list.replaceChildren(
      ...found.map(({ text, label }, at) => {
        const option = document.createElement("li");
        option.id = `${list.id}-${at}`;
        option.dataset["text"] = text;
        option.setAttribute("role", "option");
        const name = document.createElement("strong");
        name.textContent = text;
        option.append(name, ` ${label}`);
        // Before the text loses the focus.
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          accept(text);
        });
        return option;
      }),
    );
    if (found.length === 0) return close();
    list.hidden = false;
    state.textContent = `${found.length} suggestion${found.length === 1 ? "" : "s"}`;
    choose(0);
  };

  let timer: number | undefined;
  area.addEventListener("input", () => {
    clearTimeout(timer);
    const typed = typedIn(area);
    if (typed === "") return close();
    timer = window.setTimeout(async () => {
      const answer = await fetch(`${address}?q=${encodeURIComponent(typed)}`).catch(
        () => undefined,
      );
      const found = answer?.ok ? ((await answer.json()) as Suggestion[]) : [];
      // More may have been typed meanwhile.
      if (typedIn(area) === typed && document.activeElement === area)
        show(withParticipants(typed, found));
    }, PAUSE_MS);
  });
  area.addEventListener("blur", close);
  area.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const { key } = event;
    if (key === "ArrowDown") choose(chosen + 1);
    else if (key === "ArrowUp") choose(chosen - 1);
    else if (key === "Escape") close();
    else if (key === "Enter" || key === "Tab") accept(options()[chosen]?.dataset["text"] ?? "");
    else return;
    event.preventDefault();
  });
}

/** What of a reference stands before the caret; "" for nothing. */
function typedIn({ value, selectionStart, selectionEnd }: HTMLTextAreaElement): string {
  if (selectionStart !== selectionEnd) return "";
  return TYPED.exec(value.slice(Math.max(0, selectionStart - 100), selectionStart))?.[0] ?? "";
}

/** The suggestions, after those who take part in the conversation of the page. */
function withParticipants(typed: string, found: readonly Suggestion[]): Suggestion[] {
  if (!typed.startsWith("@")) return [...found];
  const links = document.querySelectorAll<HTMLElement>("[data-participants] a");
  const names = [...links].map((link) => `@${link.textContent.trim()}`);
  const own = names.filter((name) => name.toLowerCase().startsWith(typed.toLowerCase()));
  const others = found.filter(({ text }) => !own.includes(text));
  const labelOf = (name: string): string => found.find(({ text }) => text === name)?.label ?? "";
  return [...own.map((text) => ({ text, label: labelOf(text) })), ...others];
}
