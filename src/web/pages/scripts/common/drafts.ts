/** What a reader has typed into a field and not sent. */
export interface Draft {
  readonly text: string;
  /** The text of the field at first: a draft replaces no other one. */
  readonly base: string;
}

const PREFIX = "edgeforge-draft ";
/** The drafts of a form that was sent, until its answer comes; of this tab alone. */
const SENT = "edgeforge-sent";

/** The key of a field's draft: of one reader, who may not be the only one of this browser. */
export const draftKey = (reader: string, area: HTMLTextAreaElement): string =>
  `${PREFIX}${reader} ${location.pathname} ${area.id}`;

export function readDraft(key: string): Draft | undefined {
  const stored = attempt(() => localStorage.getItem(key));
  return stored === null || stored === undefined ? undefined : (JSON.parse(stored) as Draft);
}

export function writeDraft(key: string, draft: Draft | undefined): void {
  attempt(() => {
    if (draft) localStorage.setItem(key, JSON.stringify(draft));
    else localStorage.removeItem(key);
  });
}

/** Notes that drafts were sent. */
export const noteSent = (keys: readonly string[]): void =>
  attempt(() => sessionStorage.setItem(SENT, JSON.stringify(keys)));

/**
 * Deletes the drafts of a form whose sending led to this page: a redirect does, and neither a
 * refusal nor a page that the reader opened. A sign-out deletes all.
 */
export function settleDrafts(): void {
  const sent = attempt(() => sessionStorage.getItem(SENT));
  attempt(() => sessionStorage.removeItem(SENT));
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  const isDone =
    (navigation?.redirectCount ?? 0) > 0 && document.querySelector("main[data-refused]") === null;
  if (sent && isDone) for (const key of JSON.parse(sent) as string[]) writeDraft(key, undefined);
  document.addEventListener("submit", ({ target }) => {
    if ((target as Element).getAttribute("action") !== "/user/logout") return;
    const keys = attempt(() => Object.keys(localStorage)) ?? [];
    for (const key of keys.filter((each) => each.startsWith(PREFIX))) writeDraft(key, undefined);
  });
}

/** Storage throws where the reader's browser stores nothing, or has no room. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
