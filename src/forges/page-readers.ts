import type { ForeignFilter, ForeignItems, ForeignKind, ForeignPage } from "./forge.ts";

/** A reader of pages for each kind of items. */
export type PageReaders = {
  [K in ForeignKind]: (
    cursor: string | undefined,
    filter: ForeignFilter,
  ) => Promise<ForeignPage<ForeignItems[K]>>;
};
