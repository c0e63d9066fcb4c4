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
