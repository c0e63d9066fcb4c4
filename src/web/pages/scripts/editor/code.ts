import {
  defaultKeymap,
  history,
  historyKeymap,
  indentLess,
  indentMore,
} from "@codemirror/commands";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  LanguageDescription,
  syntaxHighlighting,
} from "@codemirror/language";
import { languages } from "@codemirror/language-data";
import { search, searchKeymap } from "@codemirror/search";
import { Compartment, countColumn, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** How long after the last key the text is written into the field, in milliseconds. */
const PAUSE_MS = 300;

/**
 * Puts a code editor in the place of a field. It lives in a shadow root, whose style sheets are
 * constructed: the page's policy allows no style elements.
 *
 * @param path The field with the path of the file, which says its language.
 * @returns Writes what was typed into the field.
 */
export function editCode(
  field: HTMLElement,
  area: HTMLTextAreaElement,
  path: HTMLInputElement | null,
): () => void {
  const host = document.createElement("div");
  host.className = "code-editor";
  area.after(host);
  area.hidden = true;
  const root = host.attachShadow({ mode: "open" });
  const language = new Compartment();
  let timer: number | undefined;
  const write = (): void => {
    clearTimeout(timer);
    const text = view.state.doc.toString();
    if (text === area.value) return;
    area.value = text;
    area.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  const view = new EditorView({
    root,
    parent: root,
    doc: area.value,
    extensions: [
      ...extensionsOf(area),
      language.of([]),
      EditorView.updateListener.of(({ docChanged }) => {
        if (!docChanged) return;
        clearTimeout(timer);
        timer = window.setTimeout(write, PAUSE_MS);
      }),
    ],
  });
  // Others change the field, too: a draft is put back.
  area.addEventListener("input", () => {
    const { length } = view.state.doc;
    if (area.value === view.state.doc.toString()) return;
    view.dispatch({ changes: { from: 0, to: length, insert: area.value } });
  });
  field.querySelector("label")?.addEventListener("click", () => view.focus());
  const setLanguage = async (): Promise<void> => {
    const name = path?.value.split("/").at(-1) ?? "";
    const found = LanguageDescription.matchFilename(languages, name);
    const support = await found?.load().catch(() => undefined);
    view.dispatch({ effects: language.reconfigure(support ?? []) });
  };
  path?.addEventListener("change", () => void setLanguage());
  void setLanguage();
  return write;
}

function extensionsOf(area: HTMLTextAreaElement): Extension[] {
  const { unit, width } = indentationOf(area);
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    search({ top: true }),
    EditorState.tabSize.of(width),
    indentUnit.of(unit),
    keymap.of([
      { key: "Tab", run: indent, shift: indentLess },
      ...defaultKeymap,
      ...historyKeymap,
      ...searchKeymap,
    ]),
    syntaxHighlighting(COLORS),
    THEME,
    EditorView.contentAttributes.of({
      "aria-label": "Content",
      // Long lines scroll with the focus in it.
      tabindex: "0",
      "aria-description": "Tab indents. Escape, then Tab, leaves the field.",
      spellcheck: "false",
    }),
  ];
}

/** Indents the selected lines, or the text after the cursor to the next stop. */
function indent(view: EditorView): boolean {
  const { state } = view;
  if (state.selection.ranges.some(({ empty }) => !empty)) return indentMore(view);
  const unit = state.facet(indentUnit);
  const { from, head } = state.selection.main;
  const line = state.doc.lineAt(from);
  const column = countColumn(line.text.slice(0, head - line.from), state.tabSize);
  const insert = unit === "\t" ? unit : " ".repeat(unit.length - (column % unit.length));
  view.dispatch(state.replaceSelection(insert), { scrollIntoView: true, userEvent: "input" });
  return true;
}

/** Columns of an indentation of which neither EditorConfig nor the text says anything. */
const WIDTH = 4;

/** How the lines of a field are indented: as its EditorConfig says, or else as its text is. */
function indentationOf({ dataset, value }: HTMLTextAreaElement): { unit: string; width: number } {
  const tab = Number(dataset["tabWidth"]) || Number(dataset["indentSize"]) || WIDTH;
  const [, first = ""] = /^([ \t]+)\S/m.exec(value) ?? [];
  const style = dataset["indentStyle"] ?? (first.startsWith("\t") ? "tab" : "space");
  const size = Number(dataset["indentSize"]) || (style === "space" && first.length) || WIDTH;
  return {
    unit: style === "tab" ? "\t" : " ".repeat(Math.min(size, 16)),
    width: Math.min(tab, 16),
  };
}

const COLORS = HighlightStyle.define([
  { tag: [tags.comment, tags.quote], color: "var(--soft)" },
  { tag: [tags.keyword, tags.modifier, tags.deleted], color: "var(--hl-keyword)" },
  { tag: [tags.string, tags.regexp, tags.inserted], color: "var(--hl-string)" },
  {
    tag: [tags.number, tags.bool, tags.null, tags.atom, tags.attributeName, tags.meta, tags.link],
    color: "var(--hl-value)",
  },
  {
    tag: [tags.definition(tags.variableName), tags.typeName, tags.className, tags.tagName],
    color: "var(--hl-name)",
  },
  { tag: tags.heading, color: "var(--hl-name)", fontWeight: "bold" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strong, fontWeight: "bold" },
]);

/** In the colors of the page, which follow the reader's scheme. */
const THEME = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--card)", maxHeight: "70vh" },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "-1px" },
  ".cm-scroller": {
    minHeight: "12em",
    fontFamily: "ui-monospace, monospace",
    fontSize: "0.875rem",
    lineHeight: "1.5",
  },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": {
    color: "var(--soft)",
    backgroundColor: "var(--card)",
    borderRight: "1px solid var(--line)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--done-mark)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--mark)" },
  ".cm-searchMatch": { backgroundColor: "var(--mark)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--page)" },
  ".cm-textfield": { color: "var(--text)", backgroundColor: "var(--card)" },
  ".cm-button": {
    color: "var(--text)",
    backgroundColor: "var(--card)",
    backgroundImage: "none",
    border: "1px solid var(--edge)",
  },
});
