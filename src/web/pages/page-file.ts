import names from "../../../dist/pages/names.json";

/** The style sheet, a picture or a script of pages, by the name of its source. */
export type PageFile = keyof typeof names;

/** The path of a file of pages, which changes with its content. */
export const pageFilePath = (file: PageFile): string => `/-/pages/${names[file]}`;
