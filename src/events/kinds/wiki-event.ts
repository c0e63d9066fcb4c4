/** What a push did to a page of a wiki. A page under another name is an edited one. */
export interface WikiPageChange {
  action: "created" | "edited" | "deleted";
  /** The address of the page below `…/wiki/`; of a renamed page, the new one. */
  page: string;
}

/** A change of the pages of a wiki: by git, by the API or on a page. */
export interface WikiEvent {
  type: "wiki.changed";
  repoId: number;
  ownerId: number;
  /** Identifies the push, so that it is recorded once. */
  pushId: string;
  /** The new commit of the wiki's branch; null where the branch was deleted. */
  commitOid: string | null;
  /** The message of the commit, cut. */
  comment: string;
  /** The first pages that changed, by address. */
  pages: WikiPageChange[];
  /** The number of all pages that changed. */
  pageCount: number;
}
