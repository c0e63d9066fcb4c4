/** Maximum characters of the text of an answer, some ten thousand tokens. */
export const CHARS_MAX = 40_000;

/** English text and code have about as many characters in a token. */
const CHARS_PER_TOKEN = 4;

/** A part of an answer that users wrote. */
interface Data {
  /** What it is, in words of the service: "files", "body of #3". */
  readonly label: string;
  readonly text: string;
}

/** What a tool answers. */
export interface Answer {
  /** In words of the service alone. */
  readonly summary: string;
  readonly data?: readonly Data[];
  /** Numbers, ids, states and addresses, for programs. */
  readonly structured: Readonly<Record<string, unknown>>;
  /** How to go on, in words of the service. */
  readonly next?: string | undefined;
}

/** An answer as the protocol has it. */
export type RenderedAnswer = {
  readonly content: { type: "text"; text: string }[];
  readonly structuredContent: Record<string, unknown>;
};

/**
 * Renders an answer. What users wrote stands between marks with a random word, which no text can
 * foresee, so that it differs from the words of the service.
 *
 * What does not fit is cut, and the answer says so.
 */
export function renderAnswer({ summary, data = [], structured, next }: Answer): RenderedAnswer {
  const word = crypto.randomUUID().slice(0, 8);
  const lines = [summary];
  let left = CHARS_MAX;
  for (const { label, text } of data) {
    const shown = text.length <= left ? text : text.slice(0, left).toWellFormed();
    left -= shown.length;
    lines.push(`[data ${word}: ${label}]`, shown, `[end of data ${word}]`);
    if (shown.length < text.length) {
      lines.push(`Cut after ${shown.length} of ${text.length} characters.`);
    }
  }
  if (next !== undefined) lines.push(next);
  const text = lines.join("\n");
  const tokens = Math.ceil(text.length / CHARS_PER_TOKEN);
  return {
    content: [{ type: "text", text: `${text}\nAbout ${tokens} tokens.` }],
    structuredContent: { ...structured, tokens },
  };
}

/** An answer whose rows users wrote. */
interface ListAnswer<Row> {
  /** In the plural. */
  readonly noun: string;
  readonly rows: readonly Row[];
  /** How many there are, where that is known. */
  readonly total?: number | undefined;
  /** The argument `cursor` of the next page. */
  readonly cursor: string | undefined;
  readonly line: (row: Row) => string;
  /** What programs need to name the row. */
  readonly item: (row: Row) => Readonly<Record<string, unknown>>;
}

/** Answers a page of a list. */
export function answerList<Row>({
  noun,
  rows,
  total,
  cursor,
  line,
  item,
}: ListAnswer<Row>): Answer {
  const count = total === undefined ? `${rows.length}` : `${rows.length} of ${total}`;
  return {
    summary: `${count} ${noun}.`,
    ...(rows.length > 0 && { data: [{ label: noun, text: rows.map(line).join("\n") }] }),
    structured: { items: rows.map(item), total, cursor },
    next: cursor === undefined ? undefined : `For more, call again with cursor "${cursor}".`,
  };
}
