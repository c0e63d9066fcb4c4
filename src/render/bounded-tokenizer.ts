import { Tokenizer, type Token, type Tokens } from "marked";
import { tooLarge } from "../lib/failure.ts";

/** Quotes, lists, emphasis and links nested deeper are shown as they are written. */
const NESTING_MAX = 24;
/**
 * Characters searched in vain for the end of an emphasis. Past it, delimiters are text: each one
 * that is never closed is searched for up to the end of its paragraph.
 */
const EMPHASIS_SEARCH_MAX = 10_000_000;
/** Characters of quotes and lists read again, as a multiple of the text, before it is refused. */
const REREAD_MAX = 40;
/** Empty cells that rows shorter than their header may be filled up with. */
const FILLED_CELLS_MAX = 10_000;
/** Longest heading that is underlined. */
const UNDERLINED_MAX = 1000;
/** Most plain text that is looked through at a time. */
const TEXT_MAX = 2000;
/** Longest bare URL. */
const URL_MAX = 4000;

/**
 * marked's tokenizer, with ceilings where its work grows faster than the text does. Texts that
 * people write stay far below them.
 *
 * @throws Failure `too_large` where a ceiling can't be answered by showing the text as written.
 */
export class BoundedTokenizer extends Tokenizer {
  #depth = 0;
  #searched = 0;
  #reread: number;

  /** @param length Length of the whole text, in characters. */
  constructor(length: number) {
    super();
    this.#reread = REREAD_MAX * (length + 1000);
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this.#nest(() => this.#count(super.blockquote(source)));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#nest(() => this.#count(super.list(source)));
  }

  override link(source: string): Tokens.Link | Tokens.Image | undefined {
    return this.#nest(() => super.link(source));
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
    return this.#search(source, () => super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before?: string): Tokens.Del | undefined {
    if (!source.startsWith("~")) return undefined;
    return this.#search(source, () => super.del(source, masked, before));
  }

  /** The pattern reads all lines that could be rows before it looks at the one below the header. */
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
        throw tooLarge("a table has too many empty cells");
    }
    return super.table(source);
  }

  /** Searched for at each line of a list item, up to the item's end. */
  override lheading(source: string): Tokens.Heading | undefined {
    return super.lheading(source.slice(0, UNDERLINED_MAX));
  }

  /** Looks ahead for e-mail addresses at every character that could end a text. */
  override inlineText(source: string): Tokens.Text | undefined {
    if (source.length <= TEXT_MAX) return super.inlineText(source);
    const space = source.lastIndexOf(" ", TEXT_MAX);
    return super.inlineText(source.slice(0, space > 0 ? space : TEXT_MAX));
  }

  override url(source: string): Tokens.Link | undefined {
    return super.url(source.slice(0, URL_MAX));
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
    if (this.#reread < 0) throw tooLarge("quotes and lists are nested in too many ways");
    return token;
  }

  #search<T extends Token>(source: string, read: () => T | undefined): T | undefined {
    if (this.#searched > EMPHASIS_SEARCH_MAX) return undefined;
    const token = this.#nest(read);
    if (!token) this.#searched += source.length;
    return token;
  }
}
