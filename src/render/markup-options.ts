import type { KnownReferences, References, Tracker } from "./references.ts";

/**
 * Rendering modes, by their API names. "markdown" is a plain document outside of any repository.
 */
const MARKUP_MODES = ["markdown", "gfm", "comment", "wiki", "file"] as const;
export type MarkupMode = (typeof MARKUP_MODES)[number];

export function isMarkupMode(text: string): text is MarkupMode {
  return (MARKUP_MODES as readonly string[]).includes(text);
}

/** Owner and name of a repository. */
export interface RepoName {
  owner: string;
  name: string;
}

/** The base URLs of relative links and images of a document. */
export interface LinkBases {
  /** Absolute base URL of links that start with `/`: `…/src/branch/main`. No trailing slash. */
  linkBase: string;
  /** The same for images: `…/media/branch/main`. */
  rawBase: string;
  /**
   * Folder of the document below both bases, without leading or trailing slash. Empty or absent at
   * the root.
   */
  folder?: string;
}

export interface MarkupOptions {
  mode: MarkupMode;
  /** Base URL of this server without a trailing slash: `https://forge.example`. */
  rootUrl: string;
  /** The repository that `#12`, commit ids and team mentions belong to. */
  repo?: RepoName;
  /** By default, relative links are resolved against the repository's URL, or the server's. */
  links?: LinkBases;
  /** Resolves links and images against the repository's wiki, as mode "wiki" does. */
  wiki?: boolean;
  /**
   * Folder of a page in the wiki, without leading or trailing slash, percent-encoded. Empty or
   * absent at the root.
   */
  wikiFolder?: string;
  /** In mode "file": determines the renderer. */
  filePath?: string;
  /**
   * Suffix of footnote ids, so that those of several texts on one page differ: `2001` makes
   * `fn:user-content-1-2001`. The default is `preview` for comments, and empty otherwise.
   */
  footnoteSuffix?: string;
  /** The tracker that replaces the issues of `repo`. */
  tracker?: Tracker;
  /**
   * Returns the references of the text that exist. Called only if the text contains references or
   * may refer to the issues of a tracker: once, and a second time if it returns a tracker. Without
   * it, references stay text.
   */
  resolve?: (found: References) => Promise<KnownReferences>;
}
