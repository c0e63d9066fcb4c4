import { decodeHTML } from "entities";

/** Headings from which on a page has a table of contents. */
const HEADINGS_MIN = 3;
/** Headings that a table of contents has at most. */
const HEADINGS_MAX = 200;

/** A heading of a rendered text. */
interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** The headings of rendered Markdown, in their order. */
function listHeadings(html: string): Heading[] {
  const found = html.matchAll(/<h([1-6]) id="([^"]+)">(.*?)<\/h\1>/gs);
  return Array.from(found, ([, level, id = "", inner = ""]) => ({
    level: Number(level),
    id: decodeHTML(id),
    text: decodeHTML(inner.replaceAll(/<[^<>]*>/g, "")).trim(),
  })).slice(0, HEADINGS_MAX);
}

/** The table of contents of rendered Markdown, where it has several headings. */
export function Contents({ html }: { html: string }) {
  const headings = listHeadings(html);
  if (headings.length < HEADINGS_MIN) return <></>;
  const top = Math.min(...headings.map(({ level }) => level));
  return (
    <nav class="side-part" aria-label="Contents">
      <h2>Contents</h2>
      <ol class="plain-list contents">
        {headings.map(({ level, id, text }) => (
          <li class={`depth-${Math.min(level - top, 3)}`}>
            <a href={`#${id}`}>{text}</a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
