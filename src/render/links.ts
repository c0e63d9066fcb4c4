import { decodeHTML } from "entities";
import type { MarkedExtension, Token } from "marked";
import { escapeHtml, formatAttributes } from "./html.ts";
import type { MarkupOptions, RepoName } from "./markup-options.ts";
import { formatServerUrl } from "./server-urls.ts";
import { ID_PREFIX } from "./slug.ts";
import { mapTokens } from "./token-tree.ts";

/** Where a link leads: absolute, except for a link within the page. */
export function resolveLink(href: string, options: MarkupOptions): string {
  if (href.startsWith("#")) return formatFragment(href.slice(1));
  return resolve(href, findBases(options).link, options);
}

/** Where the bytes of an image are: absolute. */
export function resolveImage(src: string, options: MarkupOptions): string {
  return resolve(src, findBases(options).raw, options);
}

/** Links, and images as links to the page that shows them. */
export function links(options: MarkupOptions): MarkedExtension {
  return {
    renderer: {
      link({ href, title, text, autolink, tokens }) {
        if (autolink === true) {
          const short = formatServerUrl(href, options);
          return short ?? `<a${formatAttributes({ href })}>${escapeHtml(text)}</a>`;
        }
        const attributes = {
          href: resolveLink(decodeHTML(href), options),
          title: title ? decodeHTML(title) : undefined,
        };
        return `<a${formatAttributes(attributes)}>${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, title, tokens, ...image }) {
        const alt = this.parser.parseInline(tokens, this.parser.textRenderer);
        return formatImage({
          href: decodeHTML(href),
          alt: decodeHTML(alt),
          title: title ? decodeHTML(title) : undefined,
          isInLink: "isInLink" in image && image.isInLink === true,
          options,
        });
      },
    },
  };
}

/** An image, with a link to its page around it unless it stands in a link already. */
export function formatImage(image: {
  href: string;
  alt: string;
  title?: string | undefined;
  isInLink: boolean;
  options: MarkupOptions;
}): string {
  const src = resolveImage(image.href, image.options);
  const tag = `<img${formatAttributes({ src, alt: image.alt, title: image.title })}>`;
  if (image.isInLink) return tag;
  const page = { href: resolveLink(image.href, image.options), target: "_blank" };
  return `<a${formatAttributes(page)}>${tag}</a>`;
}

/** Notes on the images in links what they stand in, which a renderer doesn't see. */
export function markImagesInLinks(tokens: readonly Token[]): Token[] {
  return mapTokens(tokens, (token, scope) => {
    if (token.type === "image" && scope.isInLink) Object.assign(token, { isInLink: true });
    return [token];
  });
}

function formatFragment(fragment: string): string {
  if (fragment === "" || fragment.startsWith(ID_PREFIX)) return `#${fragment}`;
  return `#${ID_PREFIX}${fragment}`;
}

interface Bases {
  link: Base;
  raw: Base;
}

interface Base {
  /** What a leading slash means. */
  root: string;
  /** What a path without one starts at. */
  here: string;
}

function findBases(options: MarkupOptions): Bases {
  const { rootUrl, repo, links: bases } = options;
  const repoUrl = repo ? formatRepoUrl(rootUrl, repo) : rootUrl;
  if (repo && isWiki(options)) {
    const wiki = `${repoUrl}/wiki`;
    return { link: { root: wiki, here: wiki }, raw: { root: `${wiki}/raw`, here: `${wiki}/raw` } };
  }
  const { linkBase, rawBase, folder } = bases ?? { linkBase: repoUrl, rawBase: repoUrl };
  const below = folder ? `/${folder}` : "";
  return {
    link: { root: linkBase, here: linkBase + below },
    raw: { root: rawBase, here: rawBase + below },
  };
}

/** Markup names repositories as anybody writes them, so that each name is encoded; shapes stand above. */
export function formatRepoUrl(rootUrl: string, repo: RepoName): string {
  return `${rootUrl}/${encodeURIComponent(repo.owner)}/${encodeURIComponent(repo.name)}`;
}

export function isWiki(options: MarkupOptions): boolean {
  return options.wiki === true || options.mode === "wiki";
}

function resolve(href: string, base: Base, options: MarkupOptions): string {
  // Browsers drop these before they look for a scheme, so the question below does too.
  const target = stripControls(href);
  if (/^[a-z][a-z\d+.-]*:/i.test(target) || /^[/\\]{2}/.test(target)) return target;
  if (target.startsWith("/:root/")) return join(options.rootUrl, target.slice("/:root/".length));
  if (target.startsWith("/:raw/")) {
    return join(findBases(options).raw.root, target.slice("/:raw/".length));
  }
  if (target.startsWith("/")) return join(base.root, target.slice(1));
  return join(base.here, target);
}

function stripControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it is for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
}

function join(base: string, path: string): string {
  // A colon in the first segment (`a b:c`) would make a scheme of it.
  return URL.parse(`./${path}`, `${base}/`)?.href ?? base;
}
