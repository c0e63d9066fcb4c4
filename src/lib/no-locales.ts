/**
 * Stands for zod's module of locales in the Worker's build (`[alias]` in wrangler.toml): 50
 * languages, which no message of the service uses, since src/api/field-rules.ts words them.
 */
export default {};
