package modelsim

import "encoding/base64"

// Image is the smallest PNG, as it is sent to a model, and Pixels are its bytes.
const Image = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// Pixels returns the bytes of Image.
func Pixels() []byte {
	b, err := base64.StdEncoding.DecodeString(Image)
	if err != nil {
		panic(err) // a constant
	}
	return b
}
