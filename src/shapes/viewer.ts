/**
 * The recipient of a response: determines which private fields are filled, and the base of URLs.
 */
export interface Viewer {
  /**
   * The signed-in user; undefined for anonymous callers, and if only public data is to be shown.
   */
  userId: number | undefined;
  isSiteAdmin: boolean;
  rootUrl: string;
  /** Hidden e-mail addresses are replaced by the user's name at this domain. */
  noReplyDomain: string;
}
