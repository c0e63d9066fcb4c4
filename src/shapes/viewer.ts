/** Whom a thing is shown to: decides what private fields carry, and where links lead. */
export interface Viewer {
  /** The signed-in user; undefined for everybody else, and where only public things are shown. */
  userId: number | undefined;
  isSiteAdmin: boolean;
  rootUrl: string;
  /** Addresses that are hidden are shown as names at this domain. */
  noReplyDomain: string;
}
