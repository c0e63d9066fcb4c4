const TRUE = /^(?:1|t|T|TRUE|true|True|on)$/;

/** Whether a boolean in a query is true. Everything but these forms is false, as in Gitea. */
export const isTrue = (text: string): boolean => TRUE.test(text);
