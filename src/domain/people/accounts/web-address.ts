import { z } from "zod";

const WebAddress = z.url({ protocol: /^https?$/ });

/** Whether a text is a URL with http or https. */
export const isWebAddress = (text: string): boolean => WebAddress.safeParse(text).success;
