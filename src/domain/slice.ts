/** Which part of a list is asked for. */
export interface Slice {
  size: number;
  offset: number;
}

/** A part of a list, and how many items the whole list has. */
export interface Listed<T> {
  items: T[];
  total: number;
}
