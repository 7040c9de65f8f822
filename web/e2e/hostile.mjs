/** A document that tries what a page must not let it: markup, scripts, control of direction, endless words. */
export const HOSTILE = `# Moorings <script>document.title = "taken"</script>

The harbour master <img src=x onerror="document.title='taken'"> says that moorings cost 40 euros a night.

Moorings at the north quay cost 55 euros a night; \u202Eesrever ni si siht\u202C and this is not.

[The tariff](javascript:alert(1)) of moorings names <b onmouseover=alert(2)>no discount</b> for boats under six metres.

${"moorings".repeat(40)} is one word of three hundred characters and more that no line can hold.

\u505C\u6CCA\u8D39\u662F\u6BCF\u665A\u56DB\u5341\u6B27\u5143\u3002\u{1F6A2} Boats over twelve metres pay double for moorings.

<style>body { display: none }</style> <iframe src="https://example.org/"></iframe> Moorings are paid in advance.
`;
