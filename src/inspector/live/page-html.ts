/** The page as one file. `npm run page` writes it. */
export const pageHtml: string = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>leasehold</title><style>body{font-family:sans-serif}</style></head>
<body><p>This is where the page comes to be.</p><script>"use strict"</script></body></html>
`
