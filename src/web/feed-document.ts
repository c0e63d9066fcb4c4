import { formatTime } from "../lib/time.ts";

/** The content of a feed, independent of its format. */
export interface FeedDocument {
  readonly title: string;
  readonly description: string;
  /** The page whose activities the feed lists. */
  readonly pageUrl: string;
  /** The feed's own URL. */
  readonly feedUrl: string;
  /** Latest first. */
  readonly items: readonly FeedItem[];
}

export interface FeedItem {
  /** Permanently unique. */
  readonly id: string;
  readonly title: string;
  /** Plain text. */
  readonly text: string;
  readonly url: string;
  readonly authorName: string;
  /** In milliseconds. */
  readonly at: number;
}

/** @see RFC 4287 */
export function formatAtom({ title, description, pageUrl, feedUrl, items }: FeedDocument): string {
  return lines(
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element("title", title),
    element("subtitle", description),
    element("id", pageUrl),
    element("updated", formatTime(items[0]?.at ?? 0)),
    `<link rel="alternate" href="${escapeXml(pageUrl)}"/>`,
    `<link rel="self" href="${escapeXml(feedUrl)}"/>`,
    ...items.flatMap((item) => [
      "<entry>",
      element("title", item.title),
      element("id", item.id),
      element("updated", formatTime(item.at)),
      `<link rel="alternate" href="${escapeXml(item.url)}"/>`,
      `<content type="text">${escapeXml(item.text)}</content>`,
      `<author>${element("name", item.authorName)}</author>`,
      "</entry>",
    ]),
    "</feed>",
  );
}

/** @see RSS 2.0, https://www.rssboard.org/rss-specification */
export function formatRss({ title, description, pageUrl, feedUrl, items }: FeedDocument): string {
  return lines(
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">',
    "<channel>",
    element("title", title),
    element("link", pageUrl),
    element("description", description),
    `<atom:link rel="self" type="application/rss+xml" href="${escapeXml(feedUrl)}"/>`,
    element("lastBuildDate", formatRssTime(items[0]?.at ?? 0)),
    ...items.flatMap((item) => [
      "<item>",
      element("title", item.title),
      element("link", item.url),
      `<guid isPermaLink="false">${escapeXml(item.id)}</guid>`,
      element("pubDate", formatRssTime(item.at)),
      element("dc:creator", item.authorName),
      // Feed readers parse the description as HTML, so plain text is escaped twice.
      element("description", escapeXml(item.text)),
      "</item>",
    ]),
    "</channel>",
    "</rss>",
  );
}

const lines = (...list: string[]): string => `${list.join("\n")}\n`;

const element = (name: string, text: string): string => `<${name}>${escapeXml(text)}</${name}>`;

/** A date in RFC 822 format with a four-digit year. */
const formatRssTime = (at: number): string => new Date(at).toUTCString().replace("GMT", "+0000");

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes text for XML. Characters forbidden by XML 1.0 section 2.2 are replaced by U+FFFD. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex -- these are the ones
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
