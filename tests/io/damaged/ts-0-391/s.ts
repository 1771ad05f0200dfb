@problemName t
@dimensions 


@classLabel true a b
@data
1,2:3,4:a
5ÿ6:b
