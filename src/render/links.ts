import { decodeHTML } from "entities";
import type { MarkedExtension, Token } from "marked";
import { escapeHtml, formatAttributes } from "./html.ts";
import type { MarkupOptions, RepoName } from "./markup-options.ts";
import type { RenderBudget } from "./render-budget.ts";
import { formatServerUrl } from "./server-urls.ts";
import { ID_PREFIX } from "./slug.ts";
import { tokenMapper } from "./token-tree.ts";

/** Resolves the target of a link to an absolute URL, except for fragments within the page. */
export function resolveLink(href: string, options: MarkupOptions): string {
  if (href.startsWith("#")) return formatFragment(href.slice(1));
  return resolve(href, findBases(options).link, options);
}

/** Resolves the source of an image to an absolute URL. */
export function resolveImage(src: string, options: MarkupOptions): string {
  return resolve(src, findBases(options).raw, options);
}

/** Links, and images that link to their own page. */
export function links(options: MarkupOptions, budget: RenderBudget): MarkedExtension {
  // Each use of a reference repeats its address and title, and a relative address is preceded by
  // its base.
  const count = (html: string): string => {
    budget.countHtml(html.length);
    return html;
  };
  return {
    renderer: {
      link({ href, title, text, autolink, tokens }) {
        if (autolink === true) {
          const short = formatServerUrl(href, options);
          return count(short ?? `<a${formatAttributes({ href })}>${escapeHtml(text)}</a>`);
        }
        const attributes = {
          href: resolveLink(decodeHTML(href), options),
          title: title ? decodeHTML(title) : undefined,
        };
        const start = count(`<a${formatAttributes(attributes)}>`);
        return `${start}${this.parser.parseInline(tokens)}</a>`;
      },
      image({ href, title, tokens, ...image }) {
        const alt = this.parser.parseInline(tokens, this.parser.textRenderer);
        return count(
          formatImage({
            href: decodeHTML(href),
            alt: decodeHTML(alt),
            title: title ? decodeHTML(title) : undefined,
            isInLink: "isInLink" in image && image.isInLink === true,
            options,
          }),
        );
      },
    },
  };
}

/** Formats an image, wrapped in a link to its page unless it is already inside a link. */
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

/**
 * Makes a function that marks images inside links, because the renderer does not see the parents of
 * a token.
 */
export function imagesInLinks(): (tokens: readonly Token[]) => Token[] {
  return tokenMapper((token, scope) => {
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
  /** Base of paths with a leading slash. */
  root: string;
  /** Base of other relative paths. */
  here: string;
}

function findBases(options: MarkupOptions): Bases {
  const { rootUrl, repo, links: bases } = options;
  const repoUrl = repo ? formatRepoUrl(rootUrl, repo) : rootUrl;
  const wiki = `${repoUrl}/wiki`;
  const ofWiki = { linkBase: wiki, rawBase: `${wiki}/raw`, folder: options.wikiFolder };
  const { linkBase, rawBase, folder } =
    repo && isWiki(options) ? ofWiki : (bases ?? { linkBase: repoUrl, rawBase: repoUrl });
  const below = folder ? `/${folder}` : "";
  return {
    link: { root: linkBase, here: linkBase + below },
    raw: { root: rawBase, here: rawBase + below },
  };
}

/**
 * The URL of a repository's web page. Unlike `htmlUrlOf` of src/shapes, which this folder may not
 * import, it encodes both names, because the names in a text may contain any characters.
 */
export function formatRepoUrl(rootUrl: string, repo: RepoName): string {
  return `${rootUrl}/${encodeURIComponent(repo.owner)}/${encodeURIComponent(repo.name)}`;
}

export function isWiki(options: MarkupOptions): boolean {
  return options.wiki === true || options.mode === "wiki";
}

function resolve(href: string, base: Base, options: MarkupOptions): string {
  // Browsers remove control characters before they parse the scheme, so the check below must not
  // see them.
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
  // oxlint-disable-next-line no-control-regex -- removes control characters
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
}

function join(base: string, path: string): string {
  // `./` prevents a colon in the first segment (`a b:c`) from being parsed as a scheme.
  return URL.parse(`./${path}`, `${base}/`)?.href ?? base;
}
