import type { KnownReferences, References } from "./references.ts";

/** How a text is read, as the API names it; "markdown" is a plain document outside any repository. */
const MARKUP_MODES = ["markdown", "gfm", "comment", "wiki", "file"] as const;
export type MarkupMode = (typeof MARKUP_MODES)[number];

export function isMarkupMode(text: string): text is MarkupMode {
  return (MARKUP_MODES as readonly string[]).includes(text);
}

/** A repository, as its address names it. */
export interface RepoName {
  owner: string;
  name: string;
}

/** Where the relative links and images of a document lead. */
export interface LinkBases {
  /** Absolute URL of the root that links starting with `/` mean: `…/src/branch/main`. No trailing slash. */
  linkBase: string;
  /** The same for images: `…/media/branch/main`. */
  rawBase: string;
  /** Folder of the document below both roots, without slashes at its ends. Empty or absent at the root. */
  folder?: string;
}

export interface MarkupOptions {
  mode: MarkupMode;
  /** Address of this server without a trailing slash: `https://forge.example`. */
  rootUrl: string;
  /** The repository that `#12`, commit ids and team mentions belong to. */
  repo?: RepoName;
  /** Without them, relative links start at the repository's address, or at the server's. */
  links?: LinkBases;
  /** Links and images name pages and files of the repository's wiki; mode "wiki" says the same. */
  wiki?: boolean;
  /** In mode "file": picks the renderer. */
  filePath?: string;
  /**
   * Keeps the footnotes of several texts on one page apart: `2001` makes `fn:user-content-1-2001`.
   * A comment without one gets `preview`.
   */
  footnoteSuffix?: string;
  /**
   * Says which of the references found in the text exist. Called at most once, and not at all when
   * the text holds none. Without it nothing is looked up, and references stay text.
   */
  resolve?: (found: References) => Promise<KnownReferences>;
}
