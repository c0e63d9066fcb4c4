import {
  Lexer,
  type MarkedOptions,
  Tokenizer,
  type Token,
  type Tokens,
  type TokensList,
} from "marked";
import { RENDER_STEPS_MAX, type RenderBudget, TooMuchWork } from "./render-budget.ts";

/**
 * Maximum nesting of quotes, lists, emphasis and links. Deeper ones are rendered as source text.
 */
const NESTING_MAX = 24;
/**
 * Maximum number of characters searched for missing ends of emphasis. Beyond it, delimiters are
 * text. For each unclosed delimiter, the library searches to the end of the paragraph.
 */
const EMPHASIS_SEARCH_MAX = 10_000_000;
/**
 * Maximum number of characters of quotes and lists that are read again, as a multiple of the text's
 * length.
 */
const REREAD_MAX = 40;
/** Maximum number of empty cells added to rows shorter than their header. */
const FILLED_CELLS_MAX = 10_000;
/** Maximum of the number of lines in a quote times the number of its lines without `>`. */
const INTERRUPTIONS_MAX = 5_000_000;
/** Maximum number of characters read as table rows below headers that do not match. */
const REJECTED_ROWS_MAX = 5_000_000;
/** Maximum number of lines of a list item without a blank line between them. */
const CONTINUATION_MAX = 3000;
/** Maximum length of an underlined heading. */
const UNDERLINED_MAX = 1000;
/** Maximum length of plain text read at once. */
const TEXT_MAX = 1000;
/** Steps of an attempt to read a token, in all the ways that the library tries. */
const STEPS_PER_ATTEMPT = 250;
const STEPS_PER_ESCAPE = 800;
/** Steps of an attempt to read emphasis, beside those of other attempts. */
const STEPS_PER_EMPHASIS = 400;
/** Steps of a link for each character that follows it in its paragraph. */
const STEPS_PER_CHAR_AFTER_LINK = 0.045;
/** Maximum length of a bare URL. */
const URL_MAX = 4000;
/**
 * Steps for each character that could begin an e-mail address: the library reads them up to the
 * missing `@`.
 */
const STEPS_PER_ADDRESS_CHAR = 0.4;
/**
 * Steps for each character that the library reads after a bracket, to find the link that it could
 * begin.
 */
const STEPS_PER_CHAR_AFTER_BRACKET = 0.7;
/** Number of escaped characters after a bracket at which the library ends that search. */
const ESCAPES_AFTER_BRACKET_MAX = 999;

/**
 * marked's tokenizer, with limits where its work grows faster than linearly with the text. Texts
 * that people write stay far below them.
 *
 * Every attempt to read a block or an inline token counts in the budget.
 *
 * @throws TooMuchWork if a limit or the budget is exceeded and the construct cannot be rendered as
 *   source text.
 */
export class BoundedTokenizer extends Tokenizer {
  #depth = 0;
  #searched = 0;
  #reread: number;
  #rejected = 0;
  readonly #budget: RenderBudget;

  /** @param text The whole text. */
  constructor(text: string, budget: RenderBudget) {
    super();
    this.#budget = budget;
    this.#reread = REREAD_MAX * (text.length + 1000);
    checkContinuations(text);
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    if (!/^ {0,3}>/.test(source)) return undefined;
    this.#checkInterruptions(this.rules.block.blockquote.exec(source)?.[0] ?? "");
    return this.#nest(() => this.#count(super.blockquote(source)));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#nest(() => this.#count(super.list(source)));
  }

  /** The library tries this first for each block. */
  override space(source: string): Tokens.Space | undefined {
    this.#budget.consume(STEPS_PER_ATTEMPT);
    return BoundedLexer.interrupt(this.lexer, source) ?? super.space(source);
  }

  /** The library tries this first for each inline token. */
  override escape(source: string): Tokens.Escape | undefined {
    const token = super.escape(source);
    this.#budget.consume(token ? STEPS_PER_ESCAPE : STEPS_PER_ATTEMPT);
    return token;
  }

  override link(source: string): Tokens.Link | Tokens.Image | undefined {
    return this.#nest(() => this.#countLink(source, super.link(source)));
  }

  override reflink(
    source: string,
    links: Parameters<Tokenizer["reflink"]>[1],
  ): Tokens.Link | Tokens.Image | Tokens.Text | undefined {
    return this.#nest(() => super.reflink(source, links));
  }

  override emStrong(
    source: string,
    masked: string,
    before?: string,
  ): Tokens.Em | Tokens.Strong | undefined {
    if (!/^[*_]/.test(source)) return undefined;
    this.#budget.consume(STEPS_PER_EMPHASIS);
    return this.#search(source, () => super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before?: string): Tokens.Del | undefined {
    if (!source.startsWith("~")) return undefined;
    return this.#search(source, () => super.del(source, masked, before));
  }

  /** The library's pattern reads all possible rows before it checks the line below the header. */
  override table(source: string): Tokens.Table | undefined {
    const headerEnd = source.indexOf("\n");
    if (headerEnd === -1) return undefined;
    const ruleEnd = source.indexOf("\n", headerEnd + 1);
    const rule = source.slice(headerEnd + 1, ruleEnd === -1 ? undefined : ruleEnd);
    if (!/^[ \t|:-]+$/.test(rule) || !/[|:]/.test(rule)) return undefined;

    const columns = rule.split("|").length;
    if (columns > 20) {
      const end = source.search(/\n[ \t]*(?:\n|$)/);
      const body = end === -1 ? source : source.slice(0, end);
      const cells = columns * body.split("\n").length;
      if (cells > body.length + FILLED_CELLS_MAX)
        throw new TooMuchWork("a table has too many empty cells");
    }
    const table = super.table(source);
    if (!table) this.#checkRejectedRows(source);
    return table;
  }

  /** The library tries this at each line of a list item, and reads to the end of the item. */
  override lheading(source: string): Tokens.Heading | undefined {
    return super.lheading(source.slice(0, UNDERLINED_MAX));
  }

  /** The library looks ahead for e-mail addresses at every character that could end the text. */
  override inlineText(source: string): Tokens.Text | undefined {
    if (source.length <= TEXT_MAX) return super.inlineText(source);
    const space = source.lastIndexOf(" ", TEXT_MAX);
    return super.inlineText(source.slice(0, space > 0 ? space : TEXT_MAX));
  }

  override url(source: string): Tokens.Link | undefined {
    const beginning = source.slice(0, URL_MAX);
    const end = beginning.search(/[^\w.+-]/);
    this.#budget.consume(STEPS_PER_ADDRESS_CHAR * (end === -1 ? beginning.length : end));
    return super.url(beginning);
  }

  /** For each line of a quote without `>`, the library reads the rest of the quote again. */
  #checkInterruptions(quote: string): void {
    const lines = quote.split("\n");
    const interruptions = lines.filter((line) => !/^ {0,3}>/.test(line)).length;
    if (lines.length * interruptions > INTERRUPTIONS_MAX) {
      throw new TooMuchWork("a quote has too many lines without its sign");
    }
  }

  /** For a table that does not match, the library's paragraph pattern reads all its rows. */
  #checkRejectedRows(source: string): void {
    const end = source.indexOf("\n\n");
    this.#rejected += end === -1 ? source.length : end;
    if (this.#rejected > REJECTED_ROWS_MAX)
      throw new TooMuchWork("too many tables have a wrong header");
  }

  /** For each link, the library reads the rest of the paragraph again. */
  #countLink<T extends Token>(source: string, token: T | undefined): T | undefined {
    if (token) this.#budget.consume(STEPS_PER_CHAR_AFTER_LINK * source.length);
    return token;
  }

  #nest<T extends Token>(read: () => T | undefined): T | undefined {
    if (this.#depth >= NESTING_MAX) return undefined;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }

  #count<T extends Token>(token: T | undefined): T | undefined {
    this.#reread -= token?.raw.length ?? 0;
    if (this.#reread < 0) throw new TooMuchWork("quotes and lists are nested in too many ways");
    return token;
  }

  #search<T extends Token>(source: string, read: () => T | undefined): T | undefined {
    if (this.#searched > EMPHASIS_SEARCH_MAX) return undefined;
    const token = this.#nest(read);
    if (!token) this.#searched += source.length;
    return token;
  }
}

/** The source after the block at which the lexer pauses, in place of its tokens. */
interface Rest extends Tokens.Space {
  isRest: true;
}

/**
 * marked's lexer, which pauses between blocks, and counts what it reads of a paragraph before the
 * first token of it.
 *
 * @throws TooMuchWork if the budget is exceeded.
 */
export class BoundedLexer extends Lexer {
  readonly #budget: RenderBudget;
  #depth = 0;

  constructor(options: MarkedOptions, budget: RenderBudget) {
    super(options);
    this.#budget = budget;
  }

  /** The tokens of a text. Other requests run between two outermost blocks, and two paragraphs. */
  async lexInTurns(source: string): Promise<Token[]> {
    let rest = source.replaceAll(/\r\n?/g, "\n");
    while (rest !== "") {
      this.blockTokens(rest, this.tokens);
      const last = this.tokens.at(-1);
      rest = last && isRest(last) ? last.raw : "";
      if (rest !== "") this.tokens.pop();
      await this.#budget.pause();
    }
    for (const { src, tokens } of this.inlineQueue) {
      this.inlineTokens(src, tokens);
      if (this.#budget.isPauseDue) await this.#budget.pause();
    }
    return this.tokens;
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): Token[] {
    this.#depth += 1;
    try {
      return super.blockTokens(source, tokens, isClipped);
    } finally {
      this.#depth -= 1;
    }
  }

  /** Ends a call for the outermost blocks before the next one, if a pause is due. */
  static interrupt(lexer: Lexer, source: string): Rest | undefined {
    const isDue = lexer instanceof BoundedLexer && lexer.#depth === 1 && lexer.#budget.isPauseDue;
    // The library adds a token of one character to the one before it.
    return isDue && source.length > 1 ? { type: "space", raw: source, isRest: true } : undefined;
  }

  override inlineTokens(source: string, tokens?: Token[]): Token[] {
    const steps = STEPS_PER_CHAR_AFTER_BRACKET * countAfterBrackets(source);
    this.#budget.consume(Math.min(RENDER_STEPS_MAX, steps));
    return super.inlineTokens(source, tokens);
  }
}

const isRest = (token: Token): token is Rest => "isRest" in token;

/**
 * The number of characters that the library reads to find the ends of links, once for each bracket
 * that could begin one: up to the next bracket that is not escaped, over a bounded number of
 * escapes.
 */
function countAfterBrackets(source: string): number {
  let count = 0;
  /**
   * Where the search of the brackets since the last unescaped one ends: there, or after its last
   * escape.
   */
  const escapes: number[] = [];
  const open: { start: number; escapes: number }[] = [];
  const endAt = (end: number): void => {
    for (const { start, escapes: before } of open) {
      const last = escapes[before + ESCAPES_AFTER_BRACKET_MAX];
      count += Math.min(end, last ?? end) - start;
    }
    open.length = 0;
  };
  for (const { 0: text, index } of source.matchAll(/\\.|[[\]]/gs)) {
    if (text.length === 1) endAt(index);
    else escapes.push(index);
    const start = text === "]" ? -1 : text.indexOf("[");
    if (start >= 0) open.push({ start: index + start + 1, escapes: escapes.length });
  }
  endAt(source.length);
  return count;
}

/** The library copies a list item for each of its continuation lines. */
function checkContinuations(text: string): void {
  let lines: number | undefined;
  for (const [, line = ""] of text.matchAll(/^[ \t>]*(.*)$/gm)) {
    if (/^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line)) lines = 0;
    else if (line === "" || /^(?:`{3}|~{3})/.test(line)) lines = undefined;
    else if (lines !== undefined) lines += 1;
    if (lines !== undefined && lines > CONTINUATION_MAX) {
      throw new TooMuchWork(`a list item has more than ${CONTINUATION_MAX} lines`);
    }
  }
}
