/** The requested part of a list. */
export interface Slice {
  size: number;
  offset: number;
}

/** A part of a list, and the total number of items in the list. */
export interface Listed<T> {
  items: T[];
  total: number;
}

/** The rows of a page and of the statement that counts the whole list. */
export interface CountedPage<R> {
  readonly rows: readonly R[];
  readonly counted: readonly { readonly total: number }[];
}

/** The list of a batch that selects a page and counts the whole list. */
export function toListedPage<T>(page: CountedPage<T>): Listed<T>;
export function toListedPage<R, T>(page: CountedPage<R>, toItem: (row: R) => T): Listed<T>;
export function toListedPage<R, T>(
  { rows, counted: [counted] }: CountedPage<R>,
  toItem?: (row: R) => T,
) {
  return { items: toItem ? rows.map(toItem) : [...rows], total: counted?.total ?? 0 };
}
