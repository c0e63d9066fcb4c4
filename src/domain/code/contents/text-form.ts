/** How a text of the editor becomes the content of a file. */
export interface TextForm {
  readonly lineEnd: "lf" | "crlf";
  /** Whether it begins with a byte order mark. */
  readonly hasMark: boolean;
}
